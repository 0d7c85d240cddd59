"""`smspec submit` and `status` of a spec with alternatives of hosts, against a scripted SageMaker."""

import json
import re
import signal
import subprocess
import sys

import pytest

from support.servers.job_server import COMPLETED, CREATED, look
from support.small_job import write_job
from support.smspec_command import smspec
from support.submitted_job import SPEC

HOSTS = "{instance_type: ml.m5.large, count: 1, volume: 10GB}"
ALTERNATIVES = SPEC.replace(
    HOSTS, "{count: 1, any_of: [{instance_type: ml.g5.xlarge}, {instance_type: ml.g6.xlarge, count: 2}]}"
)
WAITING = look("InProgress", "Pending")
NO_CAPACITY = look("Failed", reason="CapacityError: Unable to provision requested ML compute capacity.")
QUOTA = "ResourceLimitExceeded"


@pytest.fixture
def job(aws, tmp_path):
    write_job(tmp_path, ALTERNATIVES)
    aws.outcomes = {"ml.g5.xlarge": [WAITING, NO_CAPACITY], "ml.g6.xlarge": [WAITING, COMPLETED]}
    return aws


def request_of(name, kind, count):
    """Return the request of an alternative."""
    first = json.loads(smspec("render", "--api-json").out)
    hosts = {**first["ResourceConfig"], "InstanceType": kind, "InstanceCount": count}
    return {**first, "TrainingJobName": name, "ResourceConfig": hosts}


def test_next_alternative_follows(job):
    done = smspec("submit")
    assert done.status == 0, done.err
    first, second = job.created
    assert done.out == f"{second['TrainingJobName']}\n"
    assert f"the job {first['TrainingJobName']} got no instances" in done.err
    assert job.most_alive == 1
    assert [second["ResourceConfig"][key] for key in ("InstanceType", "InstanceCount")] == ["ml.g6.xlarge", 2]
    assert [tag["Key"] for tag in second["Tags"]] == ["team", "smspec:digest"]
    repeated = smspec("submit")
    assert (repeated.status, repeated.out, len(job.created)) == (0, done.out, 2)


def test_exceeded_quota_is_shown(job):
    job.outcomes["ml.g5.xlarge"] = QUOTA
    done = smspec("submit", "--format", "json")
    assert (done.status, json.loads(done.out)["status"]) == (0, "Completed")
    assert "alternative 1: AWS rejects the job" in done.err


def test_no_hosts_exit_1(job):
    job.outcomes = {"ml.g5.xlarge": [NO_CAPACITY], "ml.g6.xlarge": QUOTA}
    done = smspec("submit")
    assert (done.status, done.out) == (1, "")
    assert "no alternative of `hosts.any_of` has capacity or quota now; alternative 2: AWS rejects" in done.err
    job.outcomes = {}
    again = smspec("submit", "--again")
    assert again.status == 0, again.err
    assert again.out.endswith("-2\n")


def test_job_of_a_simultaneous_submission_goes_on(job):
    """The other one gets quota for alternative 1 just before this one creates alternative 2."""
    job.outcomes["ml.g5.xlarge"] = QUOTA
    first = re.search(r"alternative 1, .*: (\S+) does not exist", smspec("submit", "--dry-run").err)[1]
    request = request_of(first, "ml.g5.xlarge", 1)
    earlier = look("InProgress", "Pending", members={"CreationTime": CREATED - 1})
    job.outcomes["ml.g6.xlarge"] = [WAITING]

    def other_creates():
        job.put(request, earlier, earlier, earlier, COMPLETED)

    job.on_create = other_creates
    job.on_stop = lambda name: job.jobs.update({name: [look("Stopped")]})
    done = smspec("submit")
    assert (done.status, done.out) == (0, f"{first}\n"), done.err
    assert job.stopped == [job.created[0]["TrainingJobName"]]


def test_job_that_is_stopped_for_an_earlier_one_is_left(job):
    """The other submission sees both, and stops the job that this one follows."""
    names = re.findall(r"alternative [12], .*: (\S+) does not exist", smspec("submit", "--dry-run").err)
    job.outcomes["ml.g5.xlarge"] = [WAITING, WAITING, WAITING, look("Stopped")]
    second = request_of(names[1], "ml.g6.xlarge", 2)

    def created_first(count):
        if count > 6 and names[1] not in job.jobs:
            job.put(second, WAITING, WAITING, COMPLETED)

    job.on_describe = created_first
    done = smspec("submit")
    assert (done.status, done.out) == (0, f"{names[1]}\n"), done.err
    assert f"the job {names[0]} was stopped: a different submission had created" in done.err


def test_failed_script_does_not_move_on(job):
    job.outcomes["ml.g5.xlarge"] = [look("Failed", began=60, ended=90, reason="AlgorithmError: x")]
    assert smspec("submit").status == 1
    refused = smspec("submit")
    assert (refused.status, len(job.created)) == (1, 1)
    assert "is Failed; `smspec status small-" in refused.err and "--again repeats it" in refused.err


def test_detach_exits_2(job):
    done = smspec("submit", "--detach")
    assert (done.status, done.out, job.asked) == (2, "", {})
    assert "`smspec render job.yaml --step-functions`" in done.err


def test_one_alternative_can_be_detached(job, tmp_path):
    write_job(tmp_path, ALTERNATIVES.replace(", {instance_type: ml.g6.xlarge, count: 2}", ""))
    assert smspec("submit", "--detach").status == 0
    assert len(job.created) == 1


def test_dry_run_shows_all_alternatives(job):
    done = smspec("submit", "--dry-run")
    assert (done.status, job.created) == (0, [])
    assert "alternative 1, 1 × ml.g5.xlarge: small-" in done.err
    assert "alternative 2, 2 × ml.g6.xlarge: small-" in done.err
    assert "cost ceiling: 48 instance hours" in done.err


def test_run_id_is_that_of_all_alternatives(job):
    assert smspec("submit", "--run-id", "auto").status == 0
    ids = [tag["Value"] for request in job.created for tag in request["Tags"] if tag["Key"] == "smspec:run-id"]
    assert len(ids) == 2 and len({*ids}) == 1
    assert smspec("submit", "--run-id", ids[0]).status == 0
    assert len(job.created) == 2


@pytest.mark.process
def test_ctrl_c_leaves_the_job(job):
    job.outcomes["ml.g5.xlarge"] = [WAITING]
    process = subprocess.Popen([sys.executable, "-m", "smspec", "submit"], stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("created the job"):
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "`smspec submit job.yaml` follows the job, and goes on to the next alternative" in err
    assert (len(job.created), job.stopped) == (1, [])
    job.jobs[job.created[0]["TrainingJobName"]] = [NO_CAPACITY]
    assert smspec("submit").status == 0
    assert len(job.created) == 2


def test_status_of_a_directory_lists_all_alternatives(job):
    assert smspec("submit").status == 0
    shown = smspec("status").out
    names = [request["TrainingJobName"] for request in job.created]
    rows = [line for line in shown.splitlines() if "alternative" in line]
    assert [name in row for name, row in zip(names, rows, strict=True)] == [True, True]
    assert "job.yaml (alternative 1)" in rows[0] and "Failed" in rows[0] and "Completed" in rows[1]
