"""``smspec.prices.json`` and ``smspec.quotas.json``: where they are read, and what is wrong with malformed ones."""

import json

import pytest

from support.service.api_samples import small_request
from support.small_job import READY, write_job
from support.smspec_command import smspec

LISTED = {"as_of": "2026-11-23", "currency": "USD", "training": {"ml.m5.large": "0.115"}}
PRICED = "cost ceiling: 24 instance hours, $2.76 (prices of 2026-11-23)\n"


def prices(**regions):
    return json.dumps({"version": 1, "regions": {name.replace("_", "-"): entry for name, entry in regions.items()}})


def quotas(entry, account="111122223333"):
    return json.dumps({"version": 1, "accounts": {account: {"us-west-2": entry}}})


@pytest.fixture
def repository(tmp_path):
    (tmp_path / ".git").mkdir()
    return tmp_path


def reported(directory):
    return json.loads(smspec("validate", ".", "--format", "json", cwd=directory).out)


@pytest.mark.parametrize(
    ("policy", "file", "is_read"),
    [
        (None, "smspec.prices.json", True),
        (None, "specs/smspec.prices.json", False),
        (None, "specs/a/smspec.prices.json", False),
        ("specs/smspec.toml", "specs/smspec.prices.json", True),
        ("specs/smspec.toml", "smspec.prices.json", True),
        ("smspec.toml", "smspec.prices.json", True),
    ],
)
def test_prices_are_next_to_the_policy_or_at_the_top(policy, file, is_read, repository):
    write_job(repository / "specs/a", READY)
    (repository / file).write_text(prices(us_west_2=LISTED))
    if policy is not None:
        (repository / policy).write_text("")
    done = smspec("validate", "specs/a/job.yaml", cwd=repository)
    assert (PRICED in done.err) == is_read
    assert done.status == 0


def test_prices_of_smspec_toml_precede_the_file(repository):
    write_job(repository, READY)
    (repository / "smspec.prices.json").write_text(prices(us_west_2=LISTED))
    (repository / "smspec.toml").write_text('[prices]\n"ml.m5.large" = 1\n')
    assert "24 instance hours, $24.00\n" in smspec("validate", cwd=repository).err


def test_listed_prices_limit_the_cost(repository):
    write_job(repository, READY)
    (repository / "smspec.toml").write_text("max_cost = 2\n")
    assert "SM750" in {r["code"] for r in reported(repository)}
    (repository / "smspec.prices.json").write_text(prices(us_west_2=LISTED))
    assert "SM748" in {r["code"] for r in reported(repository)}
    (repository / "smspec.prices.json").write_text(prices(us_west_2={**LISTED, "currency": "CNY"}))
    assert "SM750" in {r["code"] for r in reported(repository)}


def test_diff_uses_listed_prices(repository):
    write_job(repository, READY)
    (repository / "other.yaml").write_text(READY.replace("count: 1", "count: 2"))
    (repository / "smspec.prices.json").write_text(prices(us_west_2=LISTED))
    done = smspec("diff", "job.yaml", "other.yaml", cwd=repository)
    assert "24 → 48 instance hours, $2.76 → $5.52" in done.out
    (repository / "smspec.prices.json").write_text("{")
    done = smspec("diff", "job.yaml", "other.yaml", cwd=repository)
    assert "costs are compared in instance hours only" in done.err and "24 → 48 instance hours" in done.out


def test_request_has_a_ceiling_unless_it_has_errors(repository):
    request = small_request()
    image = "111122223333.dkr.ecr.us-west-2.amazonaws.com/small:1"
    request["AlgorithmSpecification"] = {"TrainingImage": image, "TrainingInputMode": "File"}
    request["StoppingCondition"] = {"MaxRuntimeInSeconds": 86_400}
    request["ResourceConfig"].update(InstanceType="ml.m5.large", InstanceCount=1)
    (repository / "request.json").write_text(json.dumps(request))
    (repository / "smspec.prices.json").write_text(prices(us_west_2=LISTED))
    assert PRICED in smspec("validate", "--api-json", "request.json", cwd=repository).err
    (repository / "request.json").write_text(json.dumps({**request, "RoleArn": "r"}))
    assert "ceiling" not in smspec("validate", "--api-json", "request.json", cwd=repository).err


MALFORMED = {
    "prices": [
        ("", 1),
        ("[]", 1),
        ("{}", 1),
        ('{"version": 2, "regions": {}}', 1),
        ('{"version": 1,\n "regions": []}', 1),
        ('{"version": 1,\n "regions": {},\n "regions": {}}', 3),
        ('<<<<<<< HEAD\n{"version": 1}', 1),
        (prices(Oregon=LISTED), 1),
        (prices(us_west_2={**LISTED, "as_of": "yesterday"}), 1),
        (prices(us_west_2={**LISTED, "currency": "$"}), 1),
        (prices(us_west_2={**LISTED, "training": {"ml.m5.large": 0.1}}), 1),
        (prices(us_west_2={**LISTED, "training": {"ml.m5.large": "-1"}}), 1),
        (prices(us_west_2={**LISTED, "training": {"ml.m5.large": "1e999"}}), 1),
        (prices(us_west_2={**LISTED, "training": {"m5.large": "1"}}), 1),
        (prices(us_west_2={"training": {}}), 1),
        ("[" * 100_000, 1),
        ('{"version": 1, "regions": {"us-west-2": \n' + "9" * 5000 + "}}", 2),
        ('"\xff"', 1),
    ],
    "quotas": [
        ("{}", 1),
        (quotas({"as_of": "2026-11-23", "training": {"a": -1}}), 1),
        (quotas({"as_of": "2026-11-23", "training": {"a": True}}), 1),
        (quotas({"as_of": "2026-11-23", "training": {"a": 1.5}}), 1),
        (quotas({"as_of": "2026-11-23"}), 1),
        (quotas({"as_of": "2026-11-23", "training": {}}, account="me"), 1),
    ],
}


@pytest.mark.parametrize(
    ("name", "content", "line"), [(n, c, at) for n, cases in MALFORMED.items() for c, at in cases], ids=range(24)
)
def test_malformed_file_is_reported_at_its_line(name, content, line, repository):
    write_job(repository, READY)
    file = f"smspec.{name}.json"
    (repository / file).write_text(content, encoding="latin-1")
    records = reported(repository)
    assert {(record["file"], record["severity"]) for record in records} == {(file, "error")}
    assert records[0]["line"] == line
    for command in ("build", name):
        done = smspec(command, cwd=repository)
        assert done.status == 1 and "Traceback" not in done.err


def test_file_may_not_be_a_link_out_of_the_repository(repository, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "smspec.prices.json"
    outside.write_text(prices(us_west_2=LISTED))
    (repository / "smspec.prices.json").symlink_to(outside)
    write_job(repository, READY)
    (record,) = [r for r in reported(repository) if r["code"] == "SM752"]
    assert "is outside the repository" in record["message"]


def test_fault_in_a_large_file_is_about_that_file(repository):
    write_job(repository, READY)
    large = {"us-west-2": LISTED, **{f"us-west-{n}": {**LISTED, "training": {}} for n in range(3, 90)}}
    text = json.dumps({"version": 2, "regions": large, "padding": "x" * (1 << 20)})
    (repository / "smspec.prices.json").write_text(text)
    (record,) = reported(repository)
    assert (record["code"], record["line"]) == ("SM752", 1)
    assert record["message"] == "`version` is not 1, the version that this smspec reads"
    assert "smspec prices --update" in record["help"] and "request" not in record["help"]
