"""`smspec submit` of a job with `queue`: one service job, whatever breaks, and its training jobs as its attempts."""

import io
import json
import re
import tarfile

import pytest

from support.servers.job_server import COMPLETED, look
from support.servers.queue_server import queue_server
from support.service.api_samples import small_request
from support.small_job import write_job
from support.smspec_command import smspec
from support.submitted_job import IN_CHANNEL, SPEC

QUEUED = SPEC + "queue: training\n"
SHARED = SPEC + "queue: {name: shared, share: ads, priority: 5, attempts: 3}\n"
TRAINING = look("InProgress", "Training", began=60)
FAILED = look("Failed", began=60, ended=180, reason="AlgorithmError: x\nExitCode 7")


@pytest.fixture(scope="module")
def batch_server(submit_servers):
    with queue_server(submit_servers[1]) as server:
        yield server


@pytest.fixture
def queue(aws, batch_server, monkeypatch, tmp_path):
    batch_server.reset()
    for name, value in batch_server.environ.items():
        monkeypatch.setenv(name, value)
    aws.first_looks = [TRAINING, COMPLETED]
    write_job(tmp_path, QUEUED)
    return batch_server


def submitted(*words):
    return smspec("submit", *words)


def test_job_waits_in_the_queue_and_is_followed_to_its_end(queue, aws):
    queue.ahead = ["arn:aws:batch:us-west-2:123456789012:service-job/other"]
    queue.plan = ("RUNNABLE", "RUNNABLE", "START", "RUNNING", "SUCCEEDED")
    done = submitted()
    assert done.status == 0, done.err
    assert done.out == f"{queue.submitted[0]['jobName']}\n"
    assert len(queue.submitted) == 1
    (training,) = aws.created
    assert training["TrainingJobName"].startswith(f"AWSBatch{queue.submitted[0]['jobName']}")
    assert "RUNNABLE: place 2 in the queue `training`" in done.err
    assert f"attempt 1: training job {training['TrainingJobName']}" in done.err
    assert "Completed after 2 min 00 s" in done.err


def test_sent_request_is_what_render_prints(queue):
    rendered = json.loads(smspec("render", "--batch").out)
    submitted("--detach")
    assert queue.submitted == [rendered]
    assert rendered["tags"]["team"] == "ads"


def test_job_reaches_sagemaker_only_through_the_queue(queue, aws):
    submitted("--detach")
    assert aws.asked["CreateTrainingJob"] == 0


@pytest.mark.parametrize("returns_the_first", [False, True])
def test_second_submission_makes_nothing(queue, returns_the_first):
    queue.returns_the_first = returns_the_first
    first, second = submitted("--detach"), submitted()
    assert (second.status, second.out) == (0, first.out), second.err
    assert len(queue.submitted) == 1
    assert "there is already the job" in second.err


@pytest.mark.parametrize("returns_the_first", [False, True])
@pytest.mark.parametrize("unlisted", [0, 3])
def test_dropped_response_makes_one_job(queue, returns_the_first, unlisted):
    queue.returns_the_first, queue.unlisted, queue.dropped = returns_the_first, unlisted, 1
    done = submitted("--detach")
    assert done.status == 0, done.err
    assert len(queue.submitted) == 1


@pytest.mark.parametrize(
    "fault", [(429, "TooManyRequestsException"), (500, "ServerException"), (400, "ThrottlingException")]
)
def test_throttled_submission_is_repeated(queue, fault):
    queue.faults["SubmitServiceJob"] = [fault]
    done = submitted("--detach")
    assert (done.status, len(queue.submitted)) == (0, 1), done.err


def test_denied_submission_names_the_action(queue):
    queue.faults["SubmitServiceJob"] = [(403, "AccessDeniedException")]
    done = submitted("--detach")
    assert done.status == 3
    assert "batch:SubmitServiceJob" in done.err


def test_retries_of_the_queue_are_attempts_of_one_job(queue, aws, tmp_path):
    queue.add_queue("shared", policy="fair")
    write_job(tmp_path, SHARED)
    queue.plan = ("RUNNABLE", "RUNNABLE", "START", "RUNNING", "RETRY", "START", "RUNNING", "SUCCEEDED")
    looks = iter(([FAILED], [TRAINING, COMPLETED]))
    aws.execute = lambda _request: list(next(looks))
    done = submitted()
    assert done.status == 0, done.err
    assert len(queue.submitted) == 1 and len(aws.created) == 2
    assert "attempt 1 of 3: training job" in done.err and "attempt 2 of 3: training job" in done.err
    assert "attempt 1 ended: Received status from SageMaker: AlgorithmError" in done.err
    assert "place 1 in the queue `shared`, share ads, priority 5" in done.err


def test_log_has_the_lines_of_all_attempts(queue, aws):
    queue.plan = ("START", "RETRY", "START", "RUNNING", "SUCCEEDED")
    name = json.loads(smspec("render", "--batch").out)["jobName"]
    aws.log("algo-1", 61, "first", job=f"AWSBatch{name}{1:032x}")
    aws.log("algo-1", 71, "second", job=f"AWSBatch{name}{2:032x}")
    done = submitted()
    assert done.status == 0, done.err
    shown = smspec("logs", "job.yaml")
    assert re.findall(r"algo-1 \| (.*)", shown.out) == ["first", "second"]
    assert shown.status == 0


def test_failed_job_is_repeated_only_with_again(queue, aws):
    queue.plan = ("START", "FAILED")
    aws.first_looks = [FAILED]
    done = submitted()
    assert done.status == 1
    assert "exit status of the script: 7" in done.err
    refused = submitted()
    assert refused.status == 1 and "--again repeats it" in refused.err
    queue.plan, aws.first_looks = ("START", "SUCCEEDED"), [COMPLETED]
    again = submitted("--again")
    assert (again.status, len(queue.submitted)) == (0, 2), again.err
    assert again.out.strip() == f"{queue.submitted[0]['jobName']}-2"


def test_job_that_the_queue_forgot_is_not_trained_again(queue, aws):
    assert submitted().status == 0
    queue.jobs.clear()
    done = submitted()
    assert done.status == 0, done.err
    assert len(queue.submitted) == len(aws.created) == 1
    assert "there is already the job AWSBatch" in done.err
    # The printed policy does not allow it for training jobs of a queue.
    assert aws.asked["AddTags"] == 0 and "changed" not in done.err


@pytest.mark.parametrize("action", ["ListTrainingJobs", "DescribeTrainingJob"])
def test_forgotten_job_that_cannot_be_seen_is_not_trained_again(queue, aws, action):
    assert submitted().status == 0
    queue.jobs.clear()
    aws.faults[action] = [(400, "AccessDeniedException")] * 9
    done = submitted("--detach")
    assert (done.status, len(queue.submitted)) == (3, 1), done.err
    assert f"sagemaker:{action}" in done.err


def test_jobs_of_queues_are_compared_by_their_names(queue, tmp_path):
    first = submitted().out.strip()
    write_job(tmp_path, QUEUED.replace("count: 1", "count: 2"))
    queue.plan = ("RUNNABLE",)
    second = submitted("--detach").out.strip()
    done = smspec("compare", first, second)
    assert done.status == 0, done.err
    assert "  hosts.count 1 → 2\n" in done.out
    assert "  state: Completed → InProgress, RUNNABLE\n" in done.out


@pytest.mark.parametrize("name", ["train", "AWSBatch-train"])
def test_chosen_name_is_that_of_one_job(queue, aws, tmp_path, name):
    write_job(tmp_path, QUEUED + f"job_name: {name}\n")
    longer = f"AWSBatch{name}-large{'0' * 32}"
    aws.put(small_request(), COMPLETED, name=longer)
    done = submitted()
    assert done.status == 0, done.err
    assert [each["jobName"] for each in queue.submitted] == [name]
    queue.jobs[next(iter(queue.jobs))]["token"] = "forgotten"
    assert submitted().status == 0
    assert len(queue.submitted) == 1


def test_job_of_a_different_request_is_left_alone(queue):
    submitted("--detach")
    (job,) = queue.jobs.values()
    payload = json.loads(job["serviceRequestPayload"])
    job["serviceRequestPayload"] = json.dumps({**payload, "RoleArn": "arn:aws:iam::123456789012:role/Other"})
    done = submitted("--detach")
    assert done.status == 1
    assert "a different job is named" in done.err and "`RoleArn` differs" in done.err
    assert len(queue.submitted) == 1


def test_new_run_id_is_a_new_job(queue):
    first, second = submitted("--detach", "--run-id", "a"), submitted("--detach", "--run-id", "b")
    assert (first.status, second.status, len(queue.submitted)) == (0, 0, 2)
    assert [each["tags"]["smspec:run-id"] for each in queue.submitted] == ["a", "b"]
    assert smspec("status", "job.yaml").out.count("run id b") == 1


def test_changed_tag_is_changed_in_the_queue(queue, tmp_path):
    submitted("--detach")
    write_job(tmp_path, QUEUED.replace("team: ads", "team: search"))
    done = submitted("--detach")
    assert done.status == 0, done.err
    assert len(queue.submitted) == 1
    assert next(iter(queue.jobs.values()))["tags"]["team"] == "search"


def test_changed_priority_is_that_of_the_waiting_job(queue, tmp_path):
    queue.add_queue("shared", policy="fair")
    queue.plan = ("RUNNABLE",)
    write_job(tmp_path, SHARED)
    submitted("--detach")
    write_job(tmp_path, SHARED.replace("priority: 5", "priority: 9"))
    done = submitted("--detach")
    assert done.status == 0, done.err
    assert "changed the priority of the job" in done.err
    assert [job["schedulingPriority"] for job in queue.jobs.values()] == [9]
    assert "changed the priority" not in submitted("--detach").err


def test_status_shows_the_place_and_the_attempts(queue):
    queue.plan = ("RUNNABLE",)
    name = submitted("--detach").out.strip()
    by_name = smspec("status", name)
    assert by_name.status == 0, by_name.err
    assert "RUNNABLE: place 1 in the queue `training`" in by_name.out
    record = json.loads(smspec("status", name, "--format", "json").out)
    assert (record["status"], record["queue"]["status"], record["queue"]["place"]) == ("InProgress", "RUNNABLE", 1)
    assert "InProgress, RUNNABLE" in smspec("status", ".").out


def test_name_is_found_in_any_queue(queue, tmp_path):
    for name in ("a", "b", "c", "d"):
        queue.add_queue(name)
    write_job(tmp_path, SPEC + "queue: d\n")
    name = submitted("--detach").out.strip()
    assert smspec("status", name).status == 0
    unknown = smspec("status", "nothing-like-it")
    assert unknown.status == 1
    assert "nothing-like-it" in unknown.err


def test_status_without_permission_for_queues(queue):
    queue.faults["DescribeJobQueues"] = [(403, "AccessDeniedException")]
    done = smspec("status", "nothing-like-it")
    assert done.status == 1
    assert "resource not found" in done.err


def test_stop_ends_the_job_and_not_only_its_attempt(queue, aws):
    queue.plan = ("START", "RUNNING")
    aws.first_looks = [TRAINING]
    name = submitted("--detach").out.strip()
    done = smspec("stop", name)
    assert done.status == 0, done.err
    assert queue.asked["TerminateServiceJob"] == 1
    assert aws.stopped == []
    assert "Stopped" in smspec("status", name).out
    assert "already" in smspec("stop", "job.yaml").err


def test_log_of_a_waiting_job_is_empty(queue):
    queue.plan = ("RUNNABLE",)
    submitted("--detach")
    done = smspec("logs", "job.yaml")
    assert (done.status, done.out) == (0, "")
    assert "has no log yet: it is RUNNABLE" in done.err


def test_result_is_that_of_the_last_attempt(queue, aws, store):
    submitted()
    (training,) = aws.created
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        entry = tarfile.TarInfo("weights.bin")
        entry.size = 3
        archive.addfile(entry, io.BytesIO(b"123"))
    prefix = training["OutputDataConfig"]["S3OutputPath"].removeprefix("s3://bucket/").rstrip("/")
    store.put(f"{prefix}/{training['TrainingJobName']}/output/model.tar.gz".lstrip("/"), packed.getvalue())
    done = smspec("collect", "job.yaml")
    assert done.status == 0, done.err
    assert "/model" in done.out


def test_source_is_uploaded_before_the_job_waits(queue, store, tmp_path):
    write_job(tmp_path, IN_CHANNEL + "queue: training\n")
    assert submitted("--detach").status == 0
    assert any(key.endswith("train.py") for key in store.keys)
