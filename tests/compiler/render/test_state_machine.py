"""The state machine of `render --step-functions`, run by an interpreter of the States Language."""

import json
import re
import shutil
import subprocess

import pytest

from smspec.render.step_functions import name_stem, step_functions
from support.render.machine_process import installed_antlr, machine_process
from support.service import api_samples

# One group, so one worker: the interpreter takes seconds to start.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("state machine")]
TYPES = ("ml.g5.2xlarge", "ml.g6.2xlarge", "ml.m5.large")
WAITING = {"TrainingJobStatus": "InProgress", "SecondaryStatus": "Pending"}
COMPLETED = {"TrainingJobStatus": "Completed", "SecondaryStatus": "Completed", "TrainingStartTime": "2026-01-31"}
NO_CAPACITY = {
    "TrainingJobStatus": "Failed",
    "SecondaryStatus": "Failed",
    "FailureReason": "CapacityError: Unable to provision requested ML compute capacity.",
}
SPOT_WAITED = {"TrainingJobStatus": "Stopped", "SecondaryStatus": "MaxWaitTimeExceeded"}
STOPPED = {"TrainingJobStatus": "Stopped", "SecondaryStatus": "Stopped"}
BROKEN = {
    "TrainingJobStatus": "Failed",
    "SecondaryStatus": "Failed",
    "FailureReason": "AlgorithmError: ExecuteUserScriptError",
    "TrainingStartTime": "2026-01-31",
}
BILLED = {"TrainingStartTime": "2026-01-31"}
QUOTA = "ResourceLimitExceeded"


def requests(types=TYPES):
    return [
        api_samples.changed(
            TrainingJobName=f"nightly-{number}123456789",
            ResourceConfig={"InstanceType": name, "InstanceCount": 1, "VolumeSizeInGB": 50},
        )
        for number, name in enumerate(types)
    ]


def definition(types=TYPES):
    return json.loads(step_functions(requests(types)).text)


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    packages = tmp_path_factory.mktemp("antlr")
    obstacle = installed_antlr(packages)
    if obstacle:
        pytest.skip(obstacle)
    with machine_process(packages) as process:
        yield process


def used(found):
    return [request["ResourceConfig"]["InstanceType"] for request in found["created"]]


@pytest.mark.parametrize(
    ("script", "end", "types"),
    [
        ([[WAITING, COMPLETED]], "SUCCEEDED", TYPES[:1]),
        ([QUOTA, [COMPLETED]], "SUCCEEDED", TYPES[1:2]),
        ([[WAITING, NO_CAPACITY], [COMPLETED]], "SUCCEEDED", TYPES[:2]),
        ([[WAITING, SPOT_WAITED], [COMPLETED]], "SUCCEEDED", TYPES[:2]),
        ([[NO_CAPACITY], QUOTA, [COMPLETED]], "SUCCEEDED", (TYPES[0], TYPES[2])),
        ([[NO_CAPACITY], [NO_CAPACITY], [NO_CAPACITY]], "NoCapacity", TYPES),
        ([QUOTA, QUOTA, QUOTA], "NoCapacity", ()),
        ([[BROKEN]], "TrainingJobFailed", TYPES[:1]),
        ([[STOPPED]], "TrainingJobNotCompleted", TYPES[:1]),
        ([[{**SPOT_WAITED, **BILLED}]], "TrainingJobNotCompleted", TYPES[:1]),
        ([[{**NO_CAPACITY, **BILLED}]], "TrainingJobFailed", TYPES[:1]),
        (["ValidationException"], "TrainingJobNotCreated", ()),
        (["ThrottlingException", [COMPLETED]], "SUCCEEDED", TYPES[:1]),
        ([[NO_CAPACITY], [BROKEN]], "TrainingJobFailed", TYPES[:2]),
    ],
)
def test_machine_goes_on_only_without_hosts(machine, script, end, types):
    found = machine.run(definition(), *script)
    (execution,) = found["executions"]
    assert execution["status"] == ("SUCCEEDED" if end == "SUCCEEDED" else "FAILED"), execution
    assert execution["error"] == (None if end == "SUCCEEDED" else end)
    assert tuple(used(found)) == tuple(types)
    assert found["most_alive"] <= 1
    if end == "SUCCEEDED":
        output = json.loads(execution["output"])
        assert output["TrainingJobName"] == found["created"][-1]["TrainingJobName"]
        assert output["TrainingJobStatus"] == "Completed"


@pytest.mark.parametrize("stopped_succeeds", [True, False])
def test_stopped_job_fails_however_it_is_reported(machine, stopped_succeeds):
    """No public document says whether `.sync` takes Stopped for a success."""
    (execution,) = machine.run(definition(), [STOPPED], stopped_succeeds=stopped_succeeds)["executions"]
    assert [execution[key] for key in ("status", "error", "cause")] == ["FAILED", "TrainingJobNotCompleted", "Stopped"]


def test_lost_response_is_waited_for(machine):
    """The first call made a job, though it failed: no second one is made while it is alive, and its end counts."""
    found = machine.run(definition(), [WAITING, WAITING, WAITING, COMPLETED], lost=["AmazonSageMaker"])
    assert [execution["status"] for execution in found["executions"]] == ["SUCCEEDED"]
    assert (len(found["created"]), found["most_alive"]) == (1, 1)


def test_job_that_cannot_be_described_does_not_move_on(machine):
    found = machine.run(definition(), [NO_CAPACITY], [COMPLETED], hidden=True)
    assert [execution["status"] for execution in found["executions"]] == ["FAILED"]
    assert len(found["created"]) == 1


@pytest.mark.parametrize(("look", "error"), [(BROKEN, "TrainingJobFailed"), (NO_CAPACITY, "TrainingJobFailed")])
def test_failure_reason_is_the_cause(machine, look, error):
    (execution,) = machine.run(definition(TYPES[:1]), [look])["executions"]
    assert (execution["error"], execution["cause"]) == (error, look["FailureReason"])


def test_quota_ends_a_job_without_alternatives(machine):
    (execution,) = machine.run(definition(TYPES[:1]), QUOTA)["executions"]
    assert execution["error"] == "TrainingJobNotCreated"
    assert "as the test wants it" in execution["cause"]


@pytest.mark.parametrize("input", ["{}", "[1]", '"x"', '{"run": 1}'])
def test_each_execution_has_another_name(machine, input):
    found = machine.run(definition(), QUOTA, [COMPLETED], QUOTA, [COMPLETED], input=input, times=2)
    assert [execution["status"] for execution in found["executions"]] == ["SUCCEEDED"] * 2
    names = [request["TrainingJobName"] for request in found["created"]]
    assert len({*names}) == 2
    assert all(re.fullmatch(r"nightly-1123456789-a2-[0-9a-f]{12}", name) for name in names)


@pytest.mark.parametrize("name", ["x", "a" * 63, f"{'b' * 52}-0123456789", f"{'c-' * 26}0123456789", "d-" * 31 + "d"])
def test_names_fit(name):
    stem = name_stem(name)
    assert re.fullmatch(r"[a-zA-Z0-9](-*[a-zA-Z0-9])*", stem)
    assert len(f"{stem}-a8-{'0' * 12}") <= 63


@pytest.mark.skipif(shutil.which("asl-validator") is None, reason="asl-validator is not installed (npm)")
@pytest.mark.parametrize("types", [TYPES, TYPES[:1]])
@pytest.mark.parametrize("parameter", ["x", "a.$"])
def test_validator_accepts_the_machine(tmp_path, types, parameter):
    jobs = [{**request, "HyperParameters": {parameter: "1"}} for request in requests(types)]
    (tmp_path / "machine.asl.json").write_text(step_functions(jobs).text)
    done = subprocess.run(
        ["asl-validator", "--json-path", str(tmp_path / "machine.asl.json")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
