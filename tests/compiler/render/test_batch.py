"""`render --batch`: the SubmitServiceJob request of AWS Batch, checked with botocore's model."""

import json

import botocore.session
import pytest
from botocore.validate import ParamValidator

from smspec.render.batch import is_queue, service_job
from support.service import api_samples
from support.small_job import READY, write_job
from support.smspec_command import smspec

HOSTS = "{count: 1, any_of: [{instance_type: ml.g5.xlarge}, {instance_type: ml.g6.xlarge}]}"
ALTERNATIVES = READY.replace("{instance_type: ml.m5.large, count: 1, volume: 10GB}", HOSTS)


def problems(service, operation, request):
    """Return what botocore says about a request."""
    model = botocore.session.get_session().get_service_model(service).operation_model(operation)
    return ParamValidator().validate(request, model.input_shape).generate_report()


@api_samples.with_the_pinned_model
def test_service_job_is_a_valid_request():
    request = api_samples.changed(Tags=[{"Key": "team", "Value": "ads"}])
    job = json.loads(service_job(request, "training").text)
    assert problems("batch", "SubmitServiceJob", job) == ""
    assert (job["jobName"], job["jobQueue"]) == (request["TrainingJobName"], "training")
    payload = json.loads(job["serviceRequestPayload"])
    assert "TrainingJobName" not in payload
    assert {**payload, "TrainingJobName": request["TrainingJobName"]} == request
    assert problems("sagemaker", "CreateTrainingJob", {**payload, "TrainingJobName": "AWSBatch-1"}) == ""


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
