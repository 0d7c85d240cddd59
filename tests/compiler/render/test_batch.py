"""`render --batch`: the SubmitServiceJob request of AWS Batch, checked with botocore's model."""

import json

import botocore.session
import pytest
from botocore.validate import ParamValidator

from smspec.render.batch import sent_bytes, service_job
from smspec.rules.queues import is_queue
from smspec.spec.model import Queue
from support.service import api_samples
from support.small_job import READY, write_job
from support.smspec_command import smspec

HOSTS = "{count: 1, any_of: [{instance_type: ml.g5.xlarge}, {instance_type: ml.g6.xlarge}]}"
ALTERNATIVES = READY.replace("{instance_type: ml.m5.large, count: 1, volume: 10GB}", HOSTS)


def problems(service, operation, request):
    """Return what botocore says about a request."""
    model = botocore.session.get_session().get_service_model(service).operation_model(operation)
    return ParamValidator().validate(request, model.input_shape).generate_report()


WHOLE = Queue(name="training", priority=5, share="ads", attempts=3, timeout=3600, preemptions=2)
QUOTA = Queue(name="training", quota_share="research")
QUEUED = READY + "queue: {name: training, priority: 5, share: ads}\ntags: {team: ads}\n"


@api_samples.with_the_pinned_model
@pytest.mark.parametrize("queue", [Queue(name="training"), WHOLE, QUOTA])
def test_service_job_is_a_valid_request(queue):
    request = api_samples.changed(Tags=[{"Key": "team", "Value": "ads"}])
    job = service_job(request, queue)
    assert problems("batch", "SubmitServiceJob", job) == ""
    assert (job["jobName"], job["jobQueue"]) == (request["TrainingJobName"], "training")
    payload = json.loads(job["serviceRequestPayload"])
    assert {**payload, "Tags": request["Tags"]} == request
    assert job["tags"] == {"team": "ads"}
    assert problems("sagemaker", "CreateTrainingJob", payload) == ""
    assert sent_bytes(job)[1] == len(job["serviceRequestPayload"])


def test_settings_become_the_members_of_the_api():
    job = service_job({"TrainingJobName": "a"}, WHOLE)
    assert job["retryStrategy"] == {"attempts": 3}
    assert job["timeoutConfig"] == {"attemptDurationSeconds": 3600}
    assert job["preemptionConfiguration"] == {"preemptionRetriesBeforeTermination": 2}
    assert (job["schedulingPriority"], job["shareIdentifier"]) == (5, "ads")
    assert service_job({"TrainingJobName": "a"}, QUOTA)["quotaShareName"] == "research"


@pytest.mark.parametrize("other", [{"name": "other"}, {"priority": 6}, {"share": "b"}, {"attempts": 2}])
def test_token_is_that_of_everything_sent(other):
    request = {"TrainingJobName": "a", "Tags": [{"Key": "team", "Value": "ads"}]}
    token = service_job(request, WHOLE)["clientToken"]
    assert token == service_job(request, WHOLE)["clientToken"]
    assert len(token) == 64
    assert token != service_job(request, Queue(**{"name": "training", **other}))["clientToken"]
    assert token != service_job({**request, "TrainingJobName": "a-2"}, WHOLE)["clientToken"]


@pytest.mark.parametrize(
    ("queue", "is_one"),
    [
        ("training-queue_1", True),
        ("arn:aws:batch:us-west-2:111122223333:job-queue/training", True),
        ("arn:aws-cn:batch:cn-north-1:111122223333:job-queue/training", True),
        ("", False),
        ("a" * 129, False),
        ("a queue", False),
        ("arn:aws:sqs:us-west-2:111122223333:training", False),
        ("training\n", False),
    ],
)
def test_queue_is_a_name_or_an_arn(queue, is_one):
    assert is_queue(queue) is is_one


@pytest.mark.parametrize("words", [["--batch=training"], ["--batch", "training"]])
def test_command_prints_the_request(tmp_path, words):
    write_job(tmp_path)
    done = smspec("render", *words, cwd=tmp_path)
    assert (done.status, json.loads(done.out)["jobQueue"]) == (0, "training")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--batch=training"],
            "AWS Batch waits for the instances of one request, and `hosts.any_of` has 2 alternatives",
        ),
        (["--batch", "missing/job.yaml"], "missing/job.yaml"),
        (["--batch=a queue"], "`a queue` is not the name or the ARN of a job queue"),
        (["--batch=q", "--api-json"], "not allowed with argument"),
        (["--batch=q", "--origins"], "--origins requires --spec"),
    ],
)
def test_bad_use_exits_2(tmp_path, words, said):
    write_job(tmp_path, ALTERNATIVES)
    done = smspec("render", *words, cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_targets_of_one_request_name_the_alternatives(tmp_path):
    write_job(tmp_path, ALTERNATIVES)
    done = smspec("render", "--api-json", cwd=tmp_path)
    assert json.loads(done.out)["ResourceConfig"]["InstanceType"] == "ml.g5.xlarge"
    assert "the first of 2 alternatives" in done.err
    assert "the first of 2 alternatives" in smspec("build", cwd=tmp_path).err
    assert "the first of" not in smspec("render", "--step-functions", cwd=tmp_path).err


@pytest.mark.parametrize("words", [["--batch"], ["--batch", "job.yaml"], ["job.yaml", "--batch"], ["--batch=training"]])
def test_queue_of_the_spec_is_the_default(tmp_path, words):
    write_job(tmp_path, QUEUED)
    done = smspec("render", *words, cwd=tmp_path)
    job = json.loads(done.out)
    assert (done.status, job["jobQueue"], job["schedulingPriority"]) == (0, "training", 5)
    assert job["tags"]["team"] == "ads"
    assert job["tags"]["smspec:digest"].startswith(job["jobName"].rpartition("-")[2])


@pytest.mark.parametrize(
    ("spec", "word", "said"),
    [
        (QUEUED, "--batch=other", "--batch is `other`, but `queue.name` is `training`"),
        (READY, "--batch", "the spec has no `queue`"),
    ],
)
def test_contradicting_queue_exits_2(tmp_path, spec, word, said):
    write_job(tmp_path, spec)
    done = smspec("render", word, cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize("target", ["--ack", "--step-functions", "--terraform"])
def test_targets_without_a_queue_report_it(tmp_path, target):
    write_job(tmp_path, QUEUED)
    assert "not in its queue" in smspec("render", target, cwd=tmp_path).err


def test_queue_does_not_change_the_job(tmp_path):
    """A job that moves to a different queue is the same training."""
    write_job(tmp_path, QUEUED)
    queued = smspec("render", "--api-json", cwd=tmp_path).out
    write_job(tmp_path, READY + "tags: {team: ads}\n")
    assert queued == smspec("render", "--api-json", cwd=tmp_path).out
