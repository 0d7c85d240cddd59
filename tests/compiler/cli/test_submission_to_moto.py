"""`submit`, `status`, and `stop` with moto's SageMaker, which was written from AWS's responses, not for smspec."""

import contextlib
import json
import time

import boto3
import pytest

from support.servers.aws_server import BUCKET, REGION
from support.small_job import write_job
from support.smspec_command import smspec
from support.submitted_job import SPEC

OWN = SPEC + (
    "hyperparameters: {lr: 1e-3}\n"
    "environment: {MODE: fast}\n"
    "network: {subnets: [subnet-0bb, subnet-0aa], security_groups: [sg-0bb]}\n"
    f"checkpoints: s3://{BUCKET}/ckpt/\n"
    "spot: {max_wait: 2d}\n"
)


@pytest.fixture
def sagemaker(store, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_job(tmp_path, OWN)
    endpoint = store.environ["S3_ENDPOINT_URL"]
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    client = boto3.client("sagemaker", region_name=REGION, endpoint_url=endpoint)
    yield client


@pytest.mark.parametrize("metrics", range(4))
def test_own_jobs_are_recognized(sagemaker, tmp_path, metrics):
    """moto shows two metrics of its own, whatever those of the request are."""
    each = ", ".join(f"{{name: loss{number}, regex: 'loss{number}=([0-9.]+)'}}" for number in range(metrics))
    write_job(tmp_path, OWN + f"metrics: [{each}]\n" * bool(metrics))
    first = smspec("submit", "--detach")
    assert first.status == 0, first.err
    again = smspec("submit", "--detach")
    assert (again.status, again.out) == (0, first.out), again.err
    run = smspec("submit", "--detach", "--run-id", "tonight")
    assert run.status == 0 and run.out != first.out
    shown = smspec("status", "job.yaml")
    assert shown.status == 0, shown.err
    assert "job.yaml (run id tonight)" in shown.out and run.out.strip() in shown.out
    stopped = smspec("stop", "job.yaml")
    assert stopped.status == 0 and f"the job {run.out.strip()}, run id tonight" in stopped.err, stopped.err
    listed = sagemaker.list_training_jobs(NameContains="small-")["TrainingJobSummaries"]
    assert {first.out.strip(), run.out.strip()} <= {each["TrainingJobName"] for each in listed}


def test_history_lists_own_jobs(sagemaker, tmp_path):
    write_job(tmp_path, OWN.replace("name: small", "name: listed"))
    made = [smspec("submit", "--detach").out.strip()]
    write_job(tmp_path, OWN.replace("name: small", "name: listed").replace("1e-3", "1e-2"))
    made.insert(0, smspec("submit", "--detach", "--run-id", "tonight").out.strip())
    found = json.loads(smspec("history", "job.yaml", "--format", "json").out)
    assert sorted(each["name"] for each in found["jobs"]) == sorted(made)
    assert {each["run_id"] for each in found["jobs"]} == {None, "tonight"}
    shown = smspec("compare", made[1], made[0])
    assert shown.status == 0, shown.err
    assert "  hyperparameters.lr 1e-3 → 1e-2\n" in shown.out


@pytest.mark.parametrize("count", [1, 3, 9])
def test_tail_of_a_log_has_the_last_lines_of_each_host(sagemaker, store, count):
    name = smspec("submit", "--detach", "--run-id", f"tail-{count}").out.strip()
    logs = boto3.client("logs", region_name=REGION, endpoint_url=store.environ["S3_ENDPOINT_URL"])
    group, written = "/aws/sagemaker/TrainingJobs", {"algo-1": list("abcdef"), "algo-2": ["x", "y"]}
    with contextlib.suppress(logs.exceptions.ResourceAlreadyExistsException):
        logs.create_log_group(logGroupName=group)
    for host, lines in written.items():
        stream, start = f"{name}/{host}-1", int(time.time() * 1000) - 60_000
        logs.create_log_stream(logGroupName=group, logStreamName=stream)
        events = [{"timestamp": start + number, "message": line} for number, line in enumerate(lines)]
        logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=events)
    done = smspec("logs", name, "--tail", str(count))
    assert done.status == 0, done.err
    assert sorted(done.out.splitlines()) == [
        f"{host} | {line}" for host, lines in written.items() for line in lines[-count:]
    ]
    assert smspec("logs", name, "--tail", str(count), "--host", "algo-2").out.count("algo-2 | ") == min(count, 2)
    for wrong in ("0", "-1", "all", "1000000"):
        assert smspec("logs", name, "--tail", wrong).status == 2


def test_job_of_another_team_with_the_name_is_left_alone(sagemaker, tmp_path):
    # The server has own jobs of other tests, which no foreign job hides.
    write_job(tmp_path, OWN.replace("name: small", "name: taken"))
    name = json.loads(smspec("render", "--api-json").out)["TrainingJobName"]
    sagemaker.create_training_job(
        TrainingJobName=name,
        AlgorithmSpecification={"TrainingImage": "evil", "TrainingInputMode": "File"},
        RoleArn="arn:aws:iam::111122223333:role/Admin",
        OutputDataConfig={"S3OutputPath": "s3://theirs/"},
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 5},
        StoppingCondition={"MaxRuntimeInSeconds": 60},
    )
    for command in ("submit", "stop", "logs", "collect"):
        done = smspec(command, "job.yaml")
        assert done.status == 1 and f"a different job is named `{name}`" in done.err, (command, done.err)
    arn = sagemaker.describe_training_job(TrainingJobName=name)["TrainingJobArn"]
    assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == []


def test_status_names_what_is_wrong_with_a_spec(sagemaker, tmp_path):
    write_job(
        tmp_path,
        OWN + "overlays:\n  big: {hosts: 7}\n",
        **{"typo.yaml": OWN.replace("output:", "outputs:").replace("region:", "regions:")},
    )
    shown = smspec("status")
    assert shown.status == 0 and shown.out.count("the spec has errors\n") == 2, shown.out
    wrong = [
        "job.yaml (big): the spec has errors: SM203 at job.yaml:18: `hosts` must be a mapping, got integer `7`",
        "typo.yaml: the spec has errors: SM204 at typo.yaml:6: unknown key `outputs`, and 1 more error",
    ]
    assert shown.err.splitlines() == wrong
    # Jobs of other tests may be there, too.
    notes = [each["note"] for each in json.loads(smspec("status", "--format", "json").out)]
    assert list(filter(None, notes)) == [each.partition(": ")[2] for each in wrong]
