"""A key is added to a copy of the package as docs/extending.md describes, and everything uses it.

The service gets a member that it does not have, so that the key is one that no version of smspec has.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from support.small_job import READY
from support.smspec_command import environment, smspec_process

pytestmark = [pytest.mark.xdist_group("a copy of the package"), pytest.mark.slow]

ROOT = Path(__file__).parents[4]
MEMBER = "StoppingCondition.MaxIdleTimeInSeconds"
ROW = f"""\
    KeyRow(
        "stopping.max_idle",
        DURATION,
        "{MEMBER}",
        kind="cost",
        called="longest idle time",
        words={{KUBERNETES: "idleDeadlineSeconds"}},
    ),
"""
ENTRY = {
    "title": "Longest idle time",
    "description": "How long the hosts may idle.",
    "examples": ["30m"],
    "anyOf": [{"$ref": "#/definitions/duration"}, {"$ref": "#/definitions/reference"}],
}
SPEC = READY + "stopping: {max_runtime: 6h, max_idle: 30m}\n"


def after(path, line, more):
    """Write text behind a line of a file."""
    text = path.read_text(encoding="utf-8")
    assert text.count(line) == 1
    path.write_text(text.replace(line, line + more), encoding="utf-8")


def edited(path, edit):
    """Edit the data of a JSON file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    edit(data)
    path.write_text(json.dumps(data), encoding="utf-8")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package whose table, model and schema have one key more."""
    top = tmp_path_factory.mktemp("package")
    without = shutil.ignore_patterns("__pycache__")
    for root, name in (("compiler", "smspec"), ("schemas", "smspec_schemas"), ("runtime", "smspec_runtime")):
        shutil.copytree(ROOT / root / name, top / name, ignore=without)
    after(top / "smspec/spec/keys/hosts.py", "LIMITS: tuple[KeyRow, ...] = (\n", ROW)
    after(top / "smspec/spec/model.py", "    max_pending: int | None = None\n", "    max_idle: int | None = None\n")

    def as_a_key(schema):
        schema["properties"]["stopping"]["properties"]["max_idle"] = ENTRY

    def as_a_member(api):
        api["shapes"]["StoppingCondition"]["members"]["MaxIdleTimeInSeconds"] = "MaxIdleTimeInSeconds"
        api["shapes"]["MaxIdleTimeInSeconds"] = {"type": "integer", "min": 60, "max": 3600}

    edited(top / "smspec_schemas/job.v1.schema.json", as_a_key)
    edited(top / "smspec_schemas/create_training_job.json", as_a_member)
    return top


@pytest.fixture
def run(package, tmp_path):
    """What runs a command of the copy."""
    (tmp_path / "job.yaml").write_text(SPEC)

    def run(*words, status=0):
        done = smspec_process(*words, cwd=tmp_path, env=environment(PYTHONPATH=os.fspath(package)))
        assert done.status == status, done.err + done.out
        return done

    return run


def test_key_is_decoded_and_sent(run):
    assert json.loads(run("render", "--api-json").out)["StoppingCondition"] == {
        "MaxRuntimeInSeconds": 21600,
        "MaxIdleTimeInSeconds": 1800,
    }


def test_request_fault_points_at_the_key(run, tmp_path):
    (tmp_path / "job.yaml").write_text(SPEC.replace("30m", "2h"))
    (found,) = json.loads(run("validate", "--format", "json", status=1).out)
    assert (found["code"], found["path"], found["line"]) == ("SM409", "stopping.max_idle", 7)


def test_key_is_imported(run, tmp_path):
    (tmp_path / "request.json").write_text(run("render", "--api-json").out)
    assert "stopping:\n  max_idle: 30m\n  max_runtime: 6h\n" in run("import", "request.json").out


def test_changed_key_has_its_kind_and_name(run, tmp_path):
    (tmp_path / "new.yaml").write_text(SPEC.replace("30m", "20m"))
    (job,) = json.loads(run("diff", "--format", "json", "job.yaml", "new.yaml", status=1).out)
    changes = [change for change in job["changes"] if change["path"] == "stopping.max_idle"]
    assert [(change["kind"], change["what"]) for change in changes] == [("cost", "longest idle time")]


def test_reference_explains_it(run):
    said = run("explain", "stopping.max_idle").out
    assert "How long the hosts may idle." in said
    assert "max_idle: 30m" in said
    assert f"- in the request: `{MEMBER}`\n- kind of change: `cost`\n" in said


@pytest.mark.parametrize(
    ("word", "tool"), [("idleDeadlineSeconds", "Kubernetes"), ("MaxIdleTimeInSeconds", "SageMaker API")]
)
def test_keys_of_other_tools_lead_to_the_key(run, tmp_path, word, tool):
    (tmp_path / "job.yaml").write_text(SPEC.replace("max_idle", word))
    said = run("validate", status=1).out
    assert "max_idle" in said
    assert tool in said
