"""`smspec facts`: what is newer in installed packages becomes a file of the repository, which only adds."""

import json

import pytest

from smspec.service.shapes import pinned_model
from support.git_repository import commit, repository
from support.newer_packages import MEMBER, SIZE, TYPE, VALUE, newer_botocore, newer_sagemaker_core
from support.service.api_samples import small_request
from support.small_job import READY, write_job
from support.smspec_command import environment, smspec, smspec_process

TAG = "99.0.0-gpu-py312"
NEWER = f"""\
api:
  ResourceConfig: {{{MEMBER}: cr-1}}
  OutputDataConfig: {{CompressionType: {VALUE}}}
  GreenConfig: {{Level: 2, Until: 2027}}
"""
AWS_IMAGE = "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training"
TYPES = f"{{instance_type: {TYPE}, count: 1"
LARGER = {
    "version": 1,
    "facts": {"images": {"as_of": "2026-11-29", "source": "sagemaker-core 9", "tags": {"a": ["b"]}}},
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    directory = newer_botocore(tmp_path_factory.mktemp("packages"))
    return newer_sagemaker_core(directory, TAG)


@pytest.fixture(scope="module")
def written(packages, tmp_path_factory):
    """The file that the update writes; what it says is compared once."""
    home = repository(tmp_path_factory.mktemp("home"))
    done = update(home, packages)
    model = pinned_model()
    assert done.err == (
        f"botocore 1.999.0: 6 additions to the API model of {model.date}\n"
        "sagemaker-core 99.1.0: 1 addition to the table of images\n"
        "wrote smspec.facts.json\n"
    )
    return (home / "smspec.facts.json").read_text()


@pytest.fixture
def home(tmp_path, written):
    """A repository with the file, and a job that uses what is newer."""
    directory = repository(tmp_path / "home")
    (directory / "smspec.facts.json").write_text(written)
    write_job(directory, READY + NEWER)
    return directory


def update(directory, packages=None):
    variables = {} if packages is None else {"PYTHONPATH": str(packages)}
    done = smspec_process("facts", "--update", cwd=directory, env=environment(**variables))
    assert done.status == 0, done.err
    return done


def codes(directory, *words):
    return sorted(
        {each["code"] for each in json.loads(smspec("validate", *words, "--format", "json", cwd=directory).out)}
    )


def facts_of(directory):
    return json.loads((directory / "smspec.facts.json").read_text())


def rewrite(directory, change):
    data = facts_of(directory)
    change(data["facts"]["api"]["shapes"])
    (directory / "smspec.facts.json").write_text(json.dumps(data))


def test_newer_members_and_values_are_accepted(home):
    assert codes(home) == []
    (home / "smspec.facts.json").unlink()
    assert codes(home) == ["SM402", "SM407"]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("Level: 2", "Level: 4", "SM409"),
        ("Level: 2", "Level: two", "SM401"),
        ("Level: 2, ", "", "SM403"),
        ("Level: 2", "Levl: 2", "SM402"),
        ("cr-1", "cr", "SM404"),
        (VALUE, "ZST", "SM407"),
    ],
)
def test_values_in_newer_members_are_checked(home, before, after, code):
    spec = home / "job.yaml"
    spec.write_text(spec.read_text().replace(before, after))
    assert code in codes(home)


@pytest.mark.parametrize("kind", [TYPE, SIZE])
def test_newer_instance_types_need_a_permitted_family(home, kind):
    write_job(home, READY.replace("ml.m5.large", kind))
    assert codes(home) == []
    (home / "smspec.toml").write_text('allowed_instance_families = ["c5"]\n')
    assert codes(home) == ["SM741"]


def test_newer_tag_is_accepted_in_its_account_only(home):
    write_job(home, READY.replace("111122223333.dkr.ecr.us-west-2.amazonaws.com/small:1", f"{AWS_IMAGE}:{TAG}"))
    assert codes(home) == []
    write_job(home, (home / "job.yaml").read_text().replace("us-west-2", "eu-south-1"))
    assert "SM488" in codes(home)


def test_raw_request_is_checked_with_newer_facts(home):
    request = small_request()
    request["OutputDataConfig"]["CompressionType"] = VALUE
    (home / "request.json").write_text(json.dumps(request))
    assert codes(home, "--api-json", "request.json") == []


def test_requests_are_the_same_with_and_without_the_file(home):
    spec = home / "job.yaml"
    spec.write_text(READY)
    with_file = smspec("render", "--api-json", cwd=home)
    (home / "smspec.facts.json").unlink()
    assert smspec("render", "--api-json", cwd=home) == with_file


def test_repeated_update_with_older_packages_loses_nothing(home, written):
    done = update(home)
    assert done.err.endswith("smspec.facts.json is up to date\n")
    assert (home / "smspec.facts.json").read_text() == written


def test_update_drops_what_smspec_knows_by_now(home, written):
    def known(shapes):
        shapes["OutputCompressionType"]["enum"].append("GZIP")
        shapes["ResourceConfig"]["members"]["InstanceType"] = "TrainingInstanceType"
        shapes["TrainingInputMode"] = {"type": "string", "enum": ["Pipe"]}

    rewrite(home, known)
    update(home)
    assert (home / "smspec.facts.json").read_text() == written


def test_update_writes_nothing_if_nothing_is_newer(tmp_path):
    home = repository(tmp_path / "home")
    if pinned_model() is not None and "nothing is newer" not in update(home).err:
        pytest.skip("the installed botocore has more than the pinned model")
    assert not (home / "smspec.facts.json").exists()


def test_facts_are_printed_with_their_dates(home):
    done = smspec("facts", cwd=home)
    assert f"API model (botocore {pinned_model().botocore})" in done.out
    assert "built-in algorithms                2023-06-15\n" in done.out
    assert f"  ResourceConfig.{MEMBER}\n" in done.out
    assert f"  pytorch-training:{TAG}\n" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_diff_and_changed_name_a_changed_file_first(home):
    commit(home)
    rewrite(home, lambda shapes: shapes["ResourceConfig"]["members"].update(source=MEMBER))
    (home / "job.yaml").write_text(READY + NEWER.replace("CapacityReservationId", "source"))
    done = smspec("diff", "--base", "HEAD", "--fail-on", "security", cwd=home)
    assert done.status == 1
    assert done.out.startswith("smspec.facts.json: changes security")
    assert "facts.api.shapes.ResourceConfig.members.source (line 1): an entry that loosens the facts file" in done.out
    assert (
        "settings that changed since HEAD: `smspec.facts.json`" in smspec("validate", "--changed", "HEAD", cwd=home).err
    )


def test_fewer_facts_do_not_loosen(home):
    commit(home)
    rewrite(home, lambda shapes: shapes["TrainingInstanceType"]["enum"].remove(TYPE))
    (change,) = json.loads(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home).out)[0]["changes"]
    assert (change["kind"], change["what"]) == ("security", "an entry of the facts file")
    assert (change["old"], change["new"]) == ([TYPE], [])


def test_file_in_an_inner_directory_adds_nothing(home):
    inner = home / "inner"
    write_job(inner, READY + NEWER)
    (inner / "smspec.toml").write_text("")
    (inner / "smspec.facts.json").write_text((home / "smspec.facts.json").read_text())
    assert codes(home, "inner") == []
    (home / "smspec.facts.json").write_text(json.dumps(LARGER))
    assert codes(home, "inner") == ["SM760"]
    (home / "smspec.facts.json").unlink()
    (home / "smspec.toml").write_text("")
    assert codes(home, "inner") == ["SM760"]


@pytest.mark.parametrize(
    "shape",
    [
        {"TrainingInstanceCount": {"type": "string"}},
        {"TrainingInputMode": {"type": "any"}},
        {"CreateTrainingJobRequest": {"required": ["Tags"]}},
        {"ResourceConfig": {"members": {"InstanceCount": "ArnOrName"}}},
        {"TrainingInstanceCount": {"min": 1, "max": 1}},
        {"RoleArn": {"enum": ["a"]}},
    ],
    ids=lambda shape: "-".join((*shape, *next(iter(shape.values())))),
)
def test_file_changes_no_type_and_nothing_required(home, shape):
    """What would change the verdict on a job that the pinned model knows has no effect."""
    wrong = READY.replace("count: 1", "count: many") + "api: {RoleArn: null}\n"
    write_job(home, READY)
    assert codes(home) == []
    rewrite(home, lambda shapes: shapes.update(shape))
    assert codes(home) == []
    write_job(home, wrong)
    assert codes(home) == codes_without(home)


def codes_without(home):
    text = (home / "smspec.facts.json").read_text()
    (home / "smspec.facts.json").unlink()
    found = codes(home)
    (home / "smspec.facts.json").write_text(text)
    return found


CYCLE = {
    "A": {"type": "structure", "members": {"a": "A", "b": "A"}},
    "CreateTrainingJobRequest": {"members": {"A": "A"}},
}


def test_shapes_in_themselves_are_followed_by_values_only(home):
    rewrite(home, lambda shapes: shapes.update(CYCLE))
    write_job(home, READY + "api: {A: {a: {b: {c: 1}}}}\n")
    assert codes(home) == ["SM402"]


@pytest.mark.parametrize(
    "change",
    [
        lambda shapes: shapes.update(A={"type": "list"}),
        lambda shapes: shapes.update(A={"enum": ["a"]}),
        lambda shapes: shapes.update(A={"type": "structure", "members": {"b": "Missing"}}),
        lambda shapes: shapes.update(A={"type": "structure", "required": ["b"]}),
        lambda shapes: shapes.update(A={"type": "string", "pattern": "(a+)+$"}),
        lambda shapes: shapes.update(A={"type": "string", "enum": ["a`b"]}),
        lambda shapes: shapes.update(A={"type": "string", "max": True}),
        lambda shapes: shapes.update(A=[]),
        lambda shapes: shapes.update({"a b": {"type": "string"}}),
        lambda shapes: shapes["ResourceConfig"].update(members={"a": ["b"]}),
    ],
)
def test_malformed_file_is_reported(home, change):
    rewrite(home, change)
    assert codes(home) == ["SM752"]
    assert smspec("facts", cwd=home).status == 1


def test_ignored_with_a_reason_until_it_is_known(home):
    (home / "smspec.facts.json").unlink()
    ignored = ", ".join(f"{{rule: {code}, because: AWS added it in November}}" for code in ("SM402", "SM407"))
    write_job(home, READY + NEWER + f"checks: {{ignore: [{ignored}]}}\n")
    assert codes(home) == []
    assert VALUE in smspec("render", "--api-json", cwd=home).out
    (home / "smspec.toml").write_text("allow_ignores = false\n")
    assert codes(home) == ["SM402", "SM407", "SM746"]


@pytest.mark.parametrize(
    ("today", "said"),
    [("", "over 3 years ago"), ("today = 2028-06-14", "over 4 years ago"), ("today = 2028-06-15", "over 5 years ago")],
)
def test_age_of_a_table_is_a_note(tmp_path, today, said):
    home = repository(tmp_path / "home")
    image = "174872318107.dkr.ecr.us-west-2.amazonaws.com/kmeans:1"
    values = "hyperparameters: {k: 1, feature_dim: 3}\nchannels: {train: s3://data/a/}\n"
    write_job(home, READY.replace("111122223333.dkr.ecr.us-west-2.amazonaws.com/small:1", image) + values)
    (home / "smspec.toml").write_text(f"[facts]\n{today}\n")
    done = smspec("validate", cwd=home)
    assert f"= note: 2023-06-15 was {said}; AWS may have changed this\n" in done.out


def test_dates_of_an_author_have_no_age(tmp_path):
    home = repository(tmp_path / "home")
    write_job(home, READY + "api: {ExperimentConfig: {ExperimentNam: 'as of 2020-01-01', 'as of 2020-01-01': 1}}\n")
    done = smspec("validate", cwd=home)
    assert "as of 2020-01-01" in done.out
    assert "ago" not in done.out
