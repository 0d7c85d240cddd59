"""The account of the credentials: SageMaker creates a job there, whatever the spec says."""

import boto3
import pytest

from smspec.submission.client import AwsUnavailable, account_fault, caller_of, role_account
from smspec.submission.job_service import JobService
from support.servers.aws_server import REGION, s3_server


@pytest.fixture(scope="module")
def endpoint():
    with s3_server() as store:
        yield store.environ["S3_ENDPOINT_URL"]


@pytest.fixture
def sts(endpoint, monkeypatch, tmp_path):
    for name, value in {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
    }.items():
        monkeypatch.setenv(name, value)
    return boto3.client("sts", region_name=REGION, endpoint_url=endpoint)


def test_caller_is_named(sts):
    assert caller_of(None, REGION).account == "123456789012"


def test_credentials_are_compared_after_a_new_login(sts, monkeypatch):
    """A job whose alternatives are created over hours must not move to the account of a later login."""
    service = JobService(None, REGION)
    service.require_account("123456789012")
    service.renew()
    role = "arn:aws:iam::210987654321:role/Other"
    keys = sts.assume_role(RoleArn=role, RoleSessionName="there")["Credentials"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", keys["AccessKeyId"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", keys["SecretAccessKey"])
    monkeypatch.setenv("AWS_SESSION_TOKEN", keys["SessionToken"])
    with pytest.raises(
        AwsUnavailable, match="belongs to account 123456789012, but the AWS credentials to 210987654321"
    ):
        service.renew()


@pytest.mark.parametrize("role", ["", "role/x", "arn:aws:iam::", "arn:aws:iam:::role/x"])
def test_role_without_an_account_is_not_compared(sts, role):
    account = role_account([{"RoleArn": role}, {}])
    assert account == "" and account_fault(caller_of(None, REGION), account) == ""
