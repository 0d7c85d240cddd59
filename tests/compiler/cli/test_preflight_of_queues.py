"""The table of `submit --dry-run` for a job with `queue`: the queue, its shares, and the capacity behind it."""

import json

import pytest

from support.servers.queue_server import queue_server
from support.small_job import write_job
from support.smspec_command import smspec
from support.submitted_job import SPEC


@pytest.fixture(scope="module")
def batch_server(submit_servers):
    with queue_server(submit_servers[1]) as server:
        yield server


@pytest.fixture
def queue(aws, batch_server, monkeypatch):
    batch_server.reset()
    for name, value in batch_server.environ.items():
        monkeypatch.setenv(name, value)
    return batch_server


def checks(tmp_path, queue):
    """Return the exit status, and the state and the text of the rows about the queue."""
    write_job(tmp_path, SPEC + f"queue: {queue}\n")
    done = smspec("submit", "--dry-run", "--format", "json")
    rows = {row["kind"]: row for row in json.loads(done.out)["checks"]}
    return done.status, [(rows[kind]["state"], rows[kind]["text"]) for kind in ("queue", "capacity") if kind in rows]


def test_queue_and_capacity_are_shown(queue, tmp_path):
    assert checks(tmp_path, "training") == (
        0,
        [("ok", "accepts jobs, first in, first out"), ("ok", "up to 10 NUM_INSTANCES")],
    )
    assert queue.submitted == []


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("{name: fair, share: ads}", "accepts jobs, share ads"),
        ("{name: quotas, quota_share: research}", "accepts jobs, quota share research"),
        ("{name: training, priority: 5}", "accepts jobs, first in, first out, whatever their priority"),
    ],
)
def test_share_that_fits_is_ok(queue, tmp_path, written, text):
    queue.add_queue("fair", policy="fair")
    queue.add_queue("quotas", policy="quota", unit="ml.m5.large")
    queue.shares = ["research"]
    status, rows = checks(tmp_path, written)
    assert (status, rows[0]) == (0, ("ok", text))


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("{name: training, share: ads}", "has no scheduling policy: remove `queue.share`"),
        ("fair", "has fair shares: set `queue.share`"),
        ("quotas", "has quota shares: set `queue.quota_share`"),
        ("{name: quotas, quota_share: other}", "has no quota share `other`"),
        ("compute", "is of the type ECS, not SAGEMAKER_TRAINING"),
    ],
)
def test_queue_that_rejects_the_job_is_wrong(queue, tmp_path, written, text):
    queue.add_queue("fair", policy="fair")
    queue.add_queue("quotas", policy="quota")
    queue.add_queue("compute")
    queue.queues["compute"]["jobQueueType"] = "ECS"
    queue.shares = ["research"]
    assert checks(tmp_path, written) == (1, [("wrong", text)])


def test_missing_queue_is_wrong(queue, tmp_path):
    write_job(tmp_path, SPEC + "queue: missing\n")
    done = smspec("submit")
    assert done.status == 1
    assert "in the queue `missing`" in done.err and "does not exist" in done.err


@pytest.mark.parametrize(
    ("change", "text"),
    [({"state": "DISABLED"}, "is DISABLED, so it accepts no jobs"), ({"status": "INVALID"}, "is INVALID, so it")],
)
def test_queue_that_accepts_nothing_is_wrong(queue, tmp_path, change, text):
    queue.queues["training"].update(change)
    status, ((state, shown),) = checks(tmp_path, "training")
    assert (status, state) == (3, "wrong")
    assert shown.startswith(text)


@pytest.mark.parametrize(
    ("environment", "status", "text"),
    [
        ({"capacityLimits": [{"maxCapacity": 0, "capacityUnit": "NUM_INSTANCES"}]}, 1, "needs 1 instances, and the"),
        ({"capacityLimits": [{"maxCapacity": 0, "capacityUnit": "ml.m5.large"}]}, 1, "needs 1 `ml.m5.large`, and the"),
        ({"state": "DISABLED"}, 3, "is DISABLED"),
    ],
)
def test_capacity_that_never_suffices_is_wrong(queue, tmp_path, environment, status, text):
    queue.environments["training-env"].update(environment)
    found, rows = checks(tmp_path, "training")
    assert (found, rows[1][0]) == (status, "wrong")
    assert text in rows[1][1]


@pytest.mark.parametrize("operation", ["DescribeJobQueues", "DescribeServiceEnvironments"])
def test_denied_look_is_not_checked(queue, tmp_path, operation):
    queue.faults[operation] = [(403, "AccessDeniedException")]
    status, rows = checks(tmp_path, "training")
    assert status == 0
    assert ("not checked", f"AWS denies `batch:{operation}`") in rows


def test_existing_job_asks_for_no_queue(queue, tmp_path):
    write_job(tmp_path, SPEC + "queue: training\n")
    assert smspec("submit", "--detach").status == 0
    queue.asked.clear()
    assert smspec("submit", "--dry-run").status == 0
    assert queue.asked["DescribeJobQueues"] == 0


def test_policy_of_the_submitter_allows_every_call(queue, tmp_path):
    """Each call to AWS Batch of these commands is in a statement about the queue, or about service jobs."""
    queue.add_queue("fair", policy="fair")
    write_job(tmp_path, SPEC + "queue: {name: fair, share: ads}\n")
    policy = json.loads(smspec("render", "--iam-policy=submitter").out)["PolicyDocument"]["Statement"]
    actions = [action for each in policy for action in each["Action"]]
    for words in (["submit", "--dry-run"], ["submit"], ["status", "."], ["logs", "job.yaml"], ["stop", "job.yaml"]):
        smspec(*words)
    smspec("status", queue.submitted[0]["jobName"])
    assert {f"batch:{name}" for name in queue.asked} <= set(actions)
    assert "sagemaker:CreateTrainingJob" not in actions
    (submit,) = (each for each in policy if "batch:SubmitServiceJob" in each["Action"])
    assert "arn:aws:batch:us-west-2:111122223333:job-queue/fair" in submit["Resource"]
