"""Failures that users of SageMaker reported, about which smspec asks AWS: each case runs against its servers."""

import contextlib
import os

import pytest

from smspec.submission import client, following
from support.known_failures import failures
from support.sampled_cases import sampled
from support.servers.aws_server import REGION
from support.servers.ecr_server import docker_image
from support.servers.job_server import COMPLETED, look
from support.servers.local_aws import local_aws
from support.servers.posing_aws import posing_aws
from support.smspec_command import smspec

OUTPUT = "models"
"""The bucket of the output of each case."""


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    with local_aws(tmp_path_factory.mktemp("aws")) as aws, pytest.MonkeyPatch.context() as patch:
        for name, value in aws.environ.items():
            patch.setenv(name, value)
        patch.setattr(following, "INTERVAL_SECONDS", 0)
        patch.setattr(client.time, "sleep", lambda _seconds: None)
        yield aws


def give(aws, account):
    """Let the servers have what an account has, and nothing else."""
    jobs, s3 = aws.jobs, aws.store.client
    jobs.reset()
    jobs.first_looks = looks(account.looks) or [COMPLETED]
    jobs.outcomes = {
        kind: outcome if isinstance(outcome, str) else looks(outcome) for kind, outcome in account.outcomes.items()
    }
    jobs.faults = faults(account.faults)
    jobs.on_describe = lambda count: count == 3 and jobs.faults.update(faults(account.later))
    for number in range(account.hosts):
        jobs.log(f"algo-{number + 1}", 61, *account.log)
    jobs.jobs.update((name, list(jobs.first_looks)) for name in account.jobs)
    aws.ecr.contents.clear()
    aws.ecr.add("small", "1", docker_image())
    aws.pushed = docker_image(kind=account.pushed) if account.pushed else docker_image()
    known = {bucket["Name"] for bucket in s3.list_buckets()["Buckets"]}
    for bucket in {OUTPUT, *(name.partition("/")[0] for name in account.objects)} - known:
        s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
    for bucket in known | {OUTPUT}:
        for key in keys(s3, bucket):
            s3.delete_object(Bucket=bucket, Key=key)
    for name in account.objects:
        bucket, _, key = name.partition("/")
        s3.put_object(Bucket=bucket, Key=key, Body=b"1,2\n")


def keys(s3, bucket):
    return [entry["Key"] for entry in s3.list_objects_v2(Bucket=bucket).get("Contents", ())]


@contextlib.contextmanager
def names_of_aws(servers, directory):
    """Reach the servers under the names of AWS."""
    moto, sagemaker = servers.store.environ["S3_ENDPOINT_URL"], servers.jobs.environ["AWS_ENDPOINT_URL"]
    with posing_aws(directory, moto, sagemaker) as aws, pytest.MonkeyPatch.context() as patch:
        for name in [*os.environ]:
            if name.startswith("AWS_ENDPOINT_URL"):
                patch.delenv(name)
        for name, value in aws.environ.items():
            patch.setenv(name, value)
        yield


def looks(written):
    return [look(**{"secondary": "", **each}) for each in written]


def faults(written):
    return {operation: [tuple(fault) for fault in each] for operation, each in written.items()}


@sampled(3)
@pytest.mark.parametrize(
    ("account", "job", "answer"),
    [
        pytest.param(failure.account, job, answer, id=f"{failure.name}{suffix}-{answer.command}")
        for failure in failures()
        if failure.account
        for job, suffix in ((failure.job, ""), (failure.cured, "-cured"))
        for answer in (job.shows if job else ())
    ],
)
def test_command_answers_in_aws(servers, account, job, answer, tmp_path):
    give(servers, account)
    job.write(tmp_path)
    with names_of_aws(servers, tmp_path) if account.has_names else contextlib.nullcontext():
        done = smspec(*answer.command.split(), cwd=tmp_path)
    said = done.out + done.err
    assert done.status == answer.status, said
    assert [text for text in answer.says if text not in said] == [], said
    assert [text for text in answer.lacks if text in said] == [], said
    assert len(servers.jobs.created) == answer.creates, said
    s3 = servers.store.client
    if answer.encrypts:
        found = {key: s3.head_object(Bucket=OUTPUT, Key=key).get("SSEKMSKeyId", "") for key in keys(s3, OUTPUT)}
        assert found and set(found.values()) == {answer.encrypts}, found
