"""KMS keys by alias, and the rows of other partitions."""

import json

import pytest

from support.aws_account import (
    ACCOUNT,
    DENIED,
    SPEC,
    TRUST,
    dry,
    of_kind,
)
from support.servers.aws_server import BUCKET, REGION
from support.servers.job_server import look
from support.small_job import write_job
from support.smspec_command import smspec


@pytest.mark.parametrize("command", ["submit", "stop"])
def test_key_of_an_alias_in_a_description(account, tmp_path, command):
    """If the alias is not returned as it was sent, only KMS knows whether the key is the one of the spec."""
    account.key()
    write_job(tmp_path, of_kind("KMS key"))
    assert smspec("submit", "--detach").status == 0
    (name,) = account.jobs.jobs
    output = account.jobs.requests[name]["OutputDataConfig"]
    keys = [each["KeyArn"] for each in account.client("kms").list_keys()["Keys"]]
    aliases = {each.get("TargetKeyId") for each in account.client("kms").list_aliases()["Aliases"]}
    mine = next(key for key in keys if key.rpartition("/")[2] in aliases)
    other = account.client("kms").create_key()["KeyMetadata"]["Arn"]
    account.jobs.jobs[name] = [look("InProgress", "Starting")]
    words = (command, "job.yaml", *(["--detach"] if command == "submit" else []))
    for there in (mine, f"arn:aws:kms:{REGION}:{ACCOUNT}:alias/mine", mine.rpartition("/")[2]):
        output["KmsKeyId"] = there
        assert smspec(*words).status == 0, there
    for there in (other, "alias/none", "", None):
        output["KmsKeyId"] = there
        done = smspec(*words)
        assert done.status == 1 and "`OutputDataConfig.KmsKeyId` differs from the spec" in done.err, (there, done.err)
    output["KmsKeyId"] = mine
    account.aws.faults["kms DescribeKey"] = DENIED
    done = smspec(*words)
    assert done.status == 3 and "AWS denies `kms:DescribeKey`" in done.err, done.err


@pytest.mark.parametrize(
    ("partition", "region", "suffix"),
    [("aws-cn", "cn-north-1", "amazonaws.com.cn"), ("aws-us-gov", "us-gov-west-1", "amazonaws.com")],
)
def test_rows_of_another_partition(account, tmp_path, monkeypatch, partition, region, suffix):
    """The same table, with the hosts of the partition; a role and a repository of it exist only there."""
    monkeypatch.setenv("AWS_REGION", region)
    bucket = f"jobs-of-{partition}"
    s3 = account.client("s3", region)
    s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": region})
    s3.put_object(Bucket=bucket, Key="data/a", Body=b"1")
    iam, principal = account.client("iam", region), f"sagemaker.{suffix}"
    trust = json.dumps(TRUST).replace("sagemaker.amazonaws.com", principal)
    iam.create_role(RoleName="Training", Path="/service-role/", AssumeRolePolicyDocument=trust)
    key = account.client("kms", region).create_key()["KeyMetadata"]["Arn"]
    spec = SPEC.replace("arn:aws:", f"arn:{partition}:").replace(BUCKET, bucket)
    spec = spec.replace(f"{REGION}.amazonaws.com", f"{region}.{suffix}").replace(REGION, region)
    spec = spec.replace(f"output: s3://{bucket}/out/", f"output: {{s3: s3://{bucket}/out/, kms_key: {key}}}")
    write_job(tmp_path, spec)
    account.client("ecr", region).create_repository(repositoryName="small")
    account.add_image(region=region)
    assert {(kind, state) for (kind, _), (state, _) in dry().items()} == {
        (kind, "ok") for kind in ("caller", "job", "image", "bucket", "channel", "KMS key", "role", "quota")
    }


@pytest.mark.parametrize(
    "arn",
    [
        "arn:aws:sagemaker:eu-west-1:123456789012:training-job/{name}",
        "arn:aws:sagemaker:us-west-2:210987654321:training-job/{name}",
        "arn:aws-cn:sagemaker:us-west-2:123456789012:training-job/{name}",
        "arn:aws:iam:us-west-2:123456789012:training-job/{name}",
        "arn:aws:sagemaker:us-west-2:123456789012:training-job/{name}-2",
        "arn:aws:sagemaker:us-west-2:123456789012:model/{name}",
        "arn:aws:sagemaker:us-west-2:123456789012:training-job/a/{name}",
    ],
    ids=["region", "account", "partition", "service", "name", "kind", "path"],
)
def test_job_whose_arn_is_elsewhere_is_left_alone(account, tmp_path, arn):
    """What is tagged and stopped is the ARN, which the description contains."""
    write_job(tmp_path, SPEC)
    assert smspec("submit", "--detach").status == 0
    (name,) = account.jobs.jobs
    account.jobs.jobs[name] = [look("InProgress", "Training", members={"TrainingJobArn": arn.format(name=name)})]
    done = smspec("submit", "--detach")
    assert done.status == 1 and "`TrainingJobArn` differs" in done.err, done.err
    assert account.jobs.asked["AddTags"] == 0
