"""What a job needs in its account, and the rows of the table about it."""

from __future__ import annotations

import functools
import json
import re

import boto3

from support.servers.aws_server import BUCKET, REGION
from support.servers.posing_aws import Refusal
from support.servers.registry_server import config, descriptor, digest_of
from support.small_job import BUILT
from support.smspec_command import smspec

ACCOUNT = "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/service-role/Training"
REPOSITORY = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/small"
SPEC = f"""\
smspec: v1
name: small
role: {ROLE}
region: {REGION}
image: {REPOSITORY}:1
hosts: {{instance_type: ml.m5.large, count: 2, volume: 10GB}}
channels: {{train: s3://{BUCKET}/data/}}
output: s3://{BUCKET}/out/
"""
TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}
PLAN = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-plan/big"
SECRET = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:token-AbCdEf"
DELETED = {
    "FileSystemId": "fs-00000001",
    "LifeCycleState": "deleting",
    "OwnerId": ACCOUNT,
    "CreationToken": "a",
    "CreationTime": 1,
    "NumberOfMountTargets": 0,
    "SizeInBytes": {"Value": 0},
    "PerformanceMode": "generalPurpose",
    "Tags": [],
}
DENIED = Refusal(403, "AccessDenied")
_DOCKER = "application/vnd.docker.distribution.manifest.v2+json"


BUILT_HERE = re.sub(r"role: \S+", f"role: {ROLE}", BUILT.replace("s3://models", f"s3://{BUCKET}"))


DENIALS = {
    "caller": ("sts GetCallerIdentity", "sts:GetCallerIdentity"),
    "role": ("iam GetRole", "iam:GetRole"),
    "image": ("ecr BatchGetImage", "ecr:BatchGetImage"),
    "quota": ("servicequotas ListServiceQuotas", "servicequotas:ListServiceQuotas"),
    "job": ("sagemaker DescribeTrainingJob", "sagemaker:DescribeTrainingJob"),
    "channel": ("s3 GET", "s3:ListBucket"),
    "KMS key": ("kms DescribeKey", "kms:DescribeKey"),
    "network": ("ec2 DescribeSubnets", "ec2:DescribeSubnets"),
    "training plan": ("sagemaker DescribeTrainingPlan", "sagemaker:DescribeTrainingPlan"),
    "secret": ("secretsmanager DescribeSecret", "secretsmanager:DescribeSecret"),
}


@functools.cache  # A client of EC2 is 20 MB, which botocore does not give back.
def _client(service, region, endpoint):
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    return boto3.client(service, region_name=region, endpoint_url=endpoint, **keys)


class Account:
    """What exists in the account, at moto."""

    def __init__(self, store, jobs, aws):
        self.store, self.jobs, self.aws = store, jobs, aws

    def client(self, service, region=REGION):
        return _client(service, region, self.aws.moto)

    def add_image(self, architecture="amd64", region=REGION):
        """Put an image into the repository, and its config where the link to it leads."""
        content = config(f"linux/{architecture}")
        layers = [descriptor("application/vnd.docker.image.rootfs.diff.tar.gzip", b"layer")]
        parts = {"config": descriptor("application/vnd.docker.container.image.v1+json", content), "layers": layers}
        manifest = json.dumps({"schemaVersion": 2, "mediaType": _DOCKER, **parts})
        ecr = self.client("ecr", region)
        ecr.put_image(repositoryName="small", imageManifest=manifest, imageManifestMediaType=_DOCKER, imageTag="1")
        self.store.put("config", content)
        link = self.store.client.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "config"})
        answer = json.dumps({"downloadUrl": link, "layerDigest": digest_of(content)}).encode()
        self.aws.faults["ecr GetDownloadUrlForLayer"] = answer

    def list_cache_rules(self, *prefixes):
        """Have pull-through cache rules, which moto has not."""
        rules = [
            {"ecrRepositoryPrefix": prefix, "upstreamRegistryUrl": "registry-1.docker.io", "registryId": ACCOUNT}
            for prefix in prefixes
        ]
        answer = json.dumps({"pullThroughCacheRules": rules}).encode()
        self.aws.faults["ecr DescribePullThroughCacheRules"] = answer

    def trust(self, service):
        text = json.dumps(TRUST).replace("sagemaker.amazonaws.com", service)
        self.client("iam").update_assume_role_policy(RoleName="Training", PolicyDocument=text)

    def bucket(self, name, region):
        client = self.client("s3", region)
        client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": region})

    def key(self, is_enabled=True, **options):
        """Create a key with the alias `mine`."""
        kms = self.client("kms")
        key = kms.create_key(**options)["KeyMetadata"]["KeyId"]
        kms.create_alias(AliasName="alias/mine", TargetKeyId=key)
        if not is_enabled:
            kms.disable_key(KeyId=key)

    def plan(self, status):
        plan = {"TrainingPlanArn": PLAN, "TrainingPlanName": "big", "Status": status}
        self.aws.faults["sagemaker DescribeTrainingPlan"] = json.dumps(plan).encode()

    def list_quotas(self, **values):
        quotas = [{"QuotaName": f"other {number}", "Value": 1.0} for number in range(3)]
        quotas += [{"QuotaName": name.replace("_", " "), "Value": value} for name, value in values.items()]
        self.aws.faults["servicequotas ListServiceQuotas"] = json.dumps({"Quotas": quotas}).encode()


def rows(done):
    """Return the rows of a dry run: (kind, name) → state and text."""
    found = json.loads(done.out)["checks"]
    return {(row["kind"], row["name"]): (row["state"], row["text"]) for row in found}


def dry(status=0):
    done = smspec("submit", "--dry-run", "--format", "json")
    assert done.status == status, done.err
    return rows(done)


def row(kind, status=0):
    """Return the state and the text of the one row of a kind."""
    (found,) = [value for (each, _), value in dry(status).items() if each == kind]
    return found


def of_kind(kind):
    """Return a spec whose job has rows of a kind."""
    if kind == "KMS key":
        return SPEC.replace(f"output: s3://{BUCKET}/out/", f"output: {{s3: s3://{BUCKET}/out/, kms_key: alias/mine}}")
    if kind == "network":
        return SPEC + "network: {subnets: [subnet-00000001], security_groups: [sg-00000001]}\n"
    if kind == "training plan":
        spec = SPEC.replace("ml.m5.large", "ml.p5.48xlarge")
        return spec.replace("volume: 10GB", f"training_plan: {PLAN}")
    if kind == "secret":
        return SPEC + f'source: src/\nentry_point: train.py\nsecrets: {{TOKEN: "{SECRET}"}}\n'
    if kind == "file system":
        return (
            SPEC.replace(
                f"channels: {{train: s3://{BUCKET}/data/}}",
                "channels: {train: {file_system: {id: fs-00000001, type: EFS, path: /data, access: ro}}}",
            )
            + "network: {subnets: [subnet-00000001], security_groups: [sg-00000001]}\n"
        )
    return SPEC
