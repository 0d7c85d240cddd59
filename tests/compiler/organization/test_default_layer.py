"""``[defaults]`` of smspec.toml, beneath every spec."""

import json

import pytest
import yaml

from support.small_job import READY, write_job
from support.smspec_command import smspec

ROLE = "arn:aws:iam::111122223333:role/SageMakerTraining"
IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/small:1"
BARE = f"smspec: v1\nname: small\nimage: {IMAGE}\nhosts: {{instance_type: ml.m5.large, count: 1, volume: 10GB}}\n"
DEFAULTS = f"""\
[defaults]
role = "{ROLE}"
output = "s3://models/small/"
tags = {{team = "ads", cost-center = "0042"}}
retries = 2

[defaults.stopping]
max_runtime = "2h"

[defaults.network]
subnets = ["subnet-0aa"]
security_groups = ["sg-0bb"]
"""


@pytest.fixture
def organized(tmp_path):
    (tmp_path / "smspec.toml").write_text(DEFAULTS)
    return tmp_path


def merged(directory, spec=BARE):
    """Return the merged spec."""
    write_job(directory, spec)
    done = smspec("render", "--spec", cwd=directory)
    assert done.status == 0, done.err
    return yaml.safe_load(done.out)


def test_defaults_are_in_the_merged_spec_after_its_own_keys(organized):
    spec = merged(organized)
    assert list(spec)[:4] == ["smspec", "name", "image", "hosts"]
    assert spec["role"] == ROLE
    assert spec["output"] == {"s3": "s3://models/small/"}
    assert spec["stopping"] == {"max_runtime": "2h"}
    assert spec["tags"] == {"team": "ads", "cost-center": "0042"}
    assert spec["network"] == {"subnets": ["subnet-0aa"], "security_groups": ["sg-0bb"]}
    assert spec["retries"] == 2


@pytest.mark.parametrize(
    ("written", "key", "expected"),
    [
        ("tags: {team: search}", "tags", {"team": "search", "cost-center": "0042"}),
        ("tags: null", "tags", None),
        ("stopping: {max_pending: 2h}", "stopping", {"max_runtime": "2h", "max_pending": "2h"}),
        ("network: {subnets: [subnet-1]}", "network", {"subnets": ["subnet-1"], "security_groups": ["sg-0bb"]}),
        ("output: {kms_key: alias/k}", "output", {"s3": "s3://models/small/", "kms_key": "alias/k"}),
        ("retries: null", "retries", None),
    ],
)
def test_own_keys_precede_defaults(written, key, expected, organized):
    assert merged(organized, f"{BARE}{written}\n").get(key) == expected


def test_base_specs_precede_defaults(organized):
    (organized / "base.yaml").write_text("smspec: v1\nretries: 5\n")
    assert merged(organized, f"{BARE}extends: [base.yaml]\n")["retries"] == 5


def test_same_values_make_the_same_request(organized, tmp_path):
    """Where a value is written does not change the job."""
    write_job(organized, BARE)
    request = smspec("render", "--api-json", cwd=organized).out
    spec = smspec("render", "--spec", cwd=organized).out
    alone = tmp_path / "alone"
    (alone / ".git").mkdir(parents=True)
    write_job(alone, spec)
    assert smspec("render", "--api-json", cwd=alone).out == request


def test_findings_are_at_the_line_of_smspec_toml(organized):
    (organized / "smspec.toml").write_text(DEFAULTS.replace('"2h"', '"2 hours"'))
    write_job(organized, BARE)
    (record,) = json.loads(smspec("validate", "--format", "json", cwd=organized).out)
    assert (record["file"], record["line"], record["path"]) == ("smspec.toml", 8, "stopping.max_runtime")


def test_shared_default_is_reported_once(organized):
    (organized / "smspec.toml").write_text(DEFAULTS.replace("subnets", "subnetz"))
    for name in ("a", "b"):
        write_job(organized / name, BARE.replace("name: small", f"name: {name}"))
    records = json.loads(smspec("validate", ".", "--format", "json", cwd=organized).out)
    assert [(r["file"], r["code"]) for r in records].count(("smspec.toml", "SM204")) == 1


def test_comparison_of_jobs_shows_smspec_toml(organized):
    """The job name of both is exact, so their models have the same address below the default output."""
    for name in ("a", "b"):
        write_job(organized / name, BARE + "job_name: same\n")
    records = json.loads(smspec("validate", ".", "--format", "json", cwd=organized).out)
    assert {record["code"][:4] for record in records if record["file"] != "smspec.toml"} >= {"SM70"}
    assert smspec("validate", ".", cwd=organized).status == 1


def test_schema_does_not_require_what_has_a_default(organized):
    required = json.loads(smspec("schema", cwd=organized).out)["definitions"]["complete"]["required"]
    assert required == ["name"]
    (organized / "smspec.toml").write_text("max_hours = 5\n")
    assert json.loads(smspec("schema", cwd=organized).out)["definitions"]["complete"]["required"][0] == "name"
    assert "role" in smspec("schema", cwd=organized).out


def test_explain_shows_the_default_here(organized):
    page = smspec("explain", "stopping.max_runtime", cwd=organized).out
    assert page.endswith('\nDefault: `"2h"` (smspec.toml:8)\n')
    assert "Default: `" not in smspec("explain", "stopping.max_pending", cwd=organized).out


def test_pyproject_may_contain_defaults(tmp_path):
    text = DEFAULTS.replace("[defaults", "[tool.smspec.defaults")
    (tmp_path / "pyproject.toml").write_text(text)
    assert merged(tmp_path)["role"] == ROLE
    (tmp_path / "pyproject.toml").write_text(text.replace('"2h"', "true"))
    (record,) = json.loads(smspec("validate", "--format", "json", cwd=tmp_path).out)
    assert (record["file"], record["line"]) == ("pyproject.toml", 8)


@pytest.mark.parametrize(
    ("defaults", "message"),
    [
        ('name = "a"', "`name` cannot have a default"),
        ('image = "a"', "`image` cannot have a default"),
        ('rol = "a"', "`rol` cannot have a default"),
        ('region = "${{ vars.r }}"', "`defaults.region` contains a variable"),
        ("retries = 2026-11-23", "`defaults.retries` is a date or a time"),
        ('environment = {API_TOKEN = "abcdefgh12345678"}', "`defaults.environment.API_TOKEN` looks like a secret"),
        ('tags = {a = "AKIAIOSFODNN7EXAMPLF"}', "`defaults.tags.a` looks like a secret"),
    ],
    ids=range(7),
)
def test_invalid_default_is_rejected(defaults, message, tmp_path):
    (tmp_path / "smspec.toml").write_text(f"[defaults]\n{defaults}\n")
    write_job(tmp_path, READY)
    done = smspec("validate", "--format", "json", cwd=tmp_path)
    (record,) = json.loads(done.out)
    assert (done.status, record["code"], record["line"]) == (1, "SM754", 2)
    assert message in record["message"]


def test_values_of_toml_keep_their_meaning(tmp_path):
    (tmp_path / "smspec.toml").write_text(
        '[defaults]\nretries = 0x3\ntags = {a = "no", b = "0042"}\nenvironment = {LR = 0.10, ON = true}\n'
    )
    write_job(tmp_path, READY)
    request = json.loads(smspec("render", "--api-json", cwd=tmp_path).out)
    assert request["RetryStrategy"] == {"MaximumRetryAttempts": 3}
    assert request["Tags"] == [{"Key": "a", "Value": "no"}, {"Key": "b", "Value": "0042"}]
    assert request["Environment"] == {"LR": "0.10", "ON": "true"}


def test_instance_groups_replace_the_default_instances(tmp_path):
    (tmp_path / "smspec.toml").write_text(f"""{DEFAULTS}
[defaults.hosts]
instance_type = "ml.m5.large"
count = 1
volume_kms_key = "alias/models"
""")
    groups = "hosts: {groups: [{name: a, instance_type: ml.m5.xlarge, count: 2}], volume: 10GB}"
    spec = merged(tmp_path, f"smspec: v1\nname: small\nimage: {IMAGE}\n{groups}\n")
    assert spec["hosts"] == {
        "volume_kms_key": "alias/models",
        "groups": [{"name": "a", "instance_type": "ml.m5.xlarge", "count": 2}],
        "volume": "10GB",
    }
    done = smspec("validate", cwd=tmp_path)
    assert done.status == 0, done.out
