"""Definitions with several jobs, or that cannot be imported; one job each is in the directories."""

import json

import pytest

from support.service.api_samples import small_request
from support.smspec_command import smspec

ROLE = "arn:aws:iam::111122223333:role/SageMakerTraining"
ECR = "111122223333.dkr.ecr.us-west-2.amazonaws.com"


def imported(tmp_path, text, *arguments):
    (tmp_path / "source.txt").write_text(text, encoding="utf-8")
    return smspec("import", "source.txt", *arguments, cwd=tmp_path)


@pytest.mark.parametrize("choice", ["b", "2", "States.b"])
def test_state_is_chosen_by_name_number_or_place(tmp_path, choice):
    def state(epochs):
        request = {**small_request(), "HyperParameters": {"epochs": epochs}}
        return {"Resource": "arn:aws:states:::sagemaker:createTrainingJob.sync", "Parameters": request}

    done = imported(tmp_path, json.dumps({"States": {"a": state("1"), "b": state("2")}}), "--state", choice)
    assert done.status == 0
    assert "epochs: 2\n" in done.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"Resources": {"A": {"Type": "AWS::S3::Bucket"}}}', "the template creates no training job"),
        (
            "Resources:\n  A:\n    Type: AWS::Serverless::StateMachine\n    Properties: {DefinitionUri: a.json}\n",
            "`A` has `DefinitionUri: a.json`; pass that file",
        ),
        ('{"Version": "2020-12-01", "Steps": []}', "the pipeline creates no training job"),
        ('{"HyperParameterTuningJobConfig": {}}', "the tuning job creates no training job"),
        ('{"serviceRequestPayload": "{"}', "`serviceRequestPayload` is not JSON"),
        ("apiVersion: a\nkind: TrainingJob\nname: {{ .Values.name }}\n", "a Helm template"),
        ('{"TransformJobName": "a"}', "a batch transform job, not a training job"),
        ("apiVersion: sagemaker.aws.amazon.com/v1\nkind: Model\n", "an object of kind `Model`"),
        ("- a\n- b\n", "no training job found"),
        ("plain text, with: a colon: or two\n", "no training job found"),
    ],
)
def test_file_without_a_job_is_described_in_a_sentence(tmp_path, text, said):
    done = imported(tmp_path, text)
    assert (done.status, done.out) == (1, "")
    assert said in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("member", "value", "key"),
    [
        ("timeoutConfig", {"attemptDurationSeconds": "9"}, "timeout"),
        ("retryStrategy", {"attempts": True}, "attempts"),
        ("schedulingPriority", "high", "priority"),
        ("shareIdentifier", 3, "share"),
    ],
)
def test_setting_of_a_queue_of_a_wrong_type_is_named(tmp_path, member, value, key):
    job = {"jobName": "a", "jobQueue": "training", "serviceRequestPayload": '{"RoleArn": "x"}', member: value}
    done = imported(tmp_path, json.dumps(job))
    assert done.status in (0, 1), done.err
    assert f"set `queue.{key}`" in done.err
    assert "queue: training\n" in done.out


def test_aliases_that_multiply_are_refused(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    done = imported(tmp_path, "Resources:\n  A: {Type: AWS::S3::Bucket, B: !Ref C}\n" + "\n".join(lines) + "\n")
    assert (done.status, done.out) == (1, "")


def test_zero_instances_and_groups_are_imported(tmp_path):
    hosts = {"instanceCount": 0, "volumeSizeInGB": 5, "instanceGroups": []}
    for name in ("prepare", "train"):
        group = {"instanceGroupName": name, "instanceType": "ml.c5.xlarge", "instanceCount": 1}
        hosts["instanceGroups"].append(group)
    spec = {
        "algorithmSpecification": {"trainingImage": f"{ECR}/digits:3", "trainingInputMode": "File"},
        "outputDataConfig": {"s3OutputPath": "s3://example-models/digits/"},
        "resourceConfig": hosts,
        "roleARN": ROLE,
        "stoppingCondition": {"maxRuntimeInSeconds": 3600},
    }
    job = {"apiVersion": "sagemaker.services.k8s.aws/v1alpha1", "kind": "TrainingJob", "spec": spec}
    done = imported(tmp_path, json.dumps(job))
    assert done.status == 0, done.err


def test_range_with_signs_is_imported(tmp_path):
    request = {name: value for name, value in small_request().items() if name != "TrainingJobName"}
    ranges = {"CategoricalParameterRanges": [{"Name": "mode", "Values": ["@a: b", "c"]}]}
    job = {"TrainingJobDefinition": request, "HyperParameterTuningJobConfig": {"ParameterRanges": ranges}}
    done = imported(tmp_path, json.dumps(job))
    assert done.status == 0, done.err
    assert "only a run of the source has: `mode`" in done.err
