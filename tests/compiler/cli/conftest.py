"""SageMaker and S3 for the tests of `smspec submit`."""

import json
import types

import pytest

from support.aws_account import SPEC as ACCOUNT_SPEC
from support.aws_account import TRUST, Account
from support.servers.aws_server import BUCKET, s3_server
from support.servers.job_server import COMPLETED, job_server, job_server_of_process, look
from support.servers.posing_aws import posing_aws
from support.small_job import write_job
from support.submitted_job import SPEC


@pytest.fixture(scope="module")
def submit_servers():
    with s3_server() as store, job_server() as jobs:
        yield store, jobs


@pytest.fixture(scope="module")
def sagemaker():
    """A server to which this process, its clients and commands, are led for all tests of a module."""
    with job_server_of_process() as running:
        yield running


@pytest.fixture
def store(submit_servers, monkeypatch):
    """The variables are set for one test: others of the module may have an `account`."""
    store, jobs = submit_servers
    for name, value in {**jobs.environ, "AWS_ENDPOINT_URL_S3": store.environ["S3_ENDPOINT_URL"]}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("smspec.submission.following.INTERVAL_SECONDS", 0)
    monkeypatch.setattr("smspec.submission.client.time", types.SimpleNamespace(sleep=lambda seconds: None))
    store.clear()
    store.put("data/part-0.csv", b"1,2\n")
    return store


@pytest.fixture
def aws(submit_servers, store, monkeypatch, tmp_path):
    _, jobs = submit_servers
    jobs.reset()
    jobs.first_looks = [look("InProgress", "Starting"), COMPLETED]
    monkeypatch.chdir(tmp_path)
    write_job(tmp_path, SPEC)
    return jobs


@pytest.fixture(scope="module")
def account_servers(tmp_path_factory):
    with (
        s3_server() as store,
        job_server() as jobs,
        posing_aws(
            tmp_path_factory.mktemp("aws"), store.environ["S3_ENDPOINT_URL"], jobs.environ["AWS_ENDPOINT_URL"]
        ) as aws,
    ):
        yield store, jobs, aws


@pytest.fixture
def account(account_servers, monkeypatch, tmp_path):
    """Everything that the job needs, and the job in the current directory."""
    store, jobs, aws = account_servers
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in aws.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("smspec.submission.following.INTERVAL_SECONDS", 0)
    jobs.reset()
    jobs.first_looks = [COMPLETED]
    aws.reset()
    found = Account(store, jobs, aws)
    found.client("s3").put_object(Bucket=BUCKET, Key="data/part-0.csv", Body=b"1")
    iam = found.client("iam")
    iam.create_role(RoleName="Training", Path="/service-role/", AssumeRolePolicyDocument=json.dumps(TRUST))
    found.client("ecr").create_repository(repositoryName="small")
    found.add_image()
    found.list_cache_rules()
    found.list_quotas(**{"ml.m5.large for training job usage": 4.0})
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SMSPEC_HTTP_TIMEOUT", raising=False)
    write_job(tmp_path, ACCOUNT_SPEC)
    yield found
    for alias in found.client("kms").list_aliases()["Aliases"]:
        if alias["AliasName"] == "alias/mine":
            found.client("kms").delete_alias(AliasName="alias/mine")
    iam.update_assume_role_policy(RoleName="Training", PolicyDocument=json.dumps(TRUST))
    iam.delete_role(RoleName="Training")
    found.client("ecr").delete_repository(repositoryName="small", force=True)
