"""The table of `smspec submit`, against moto and a scripted SageMaker behind the names of AWS."""

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time

import boto3
import pytest

from support.servers.aws_server import BUCKET, REGION, s3_server
from support.servers.ecr_server import docker_image
from support.servers.job_server import COMPLETED, job_server
from support.servers.posing_aws import DRIP, DROP, HANG, Refusal, posing_aws
from support.servers.registry_server import config, descriptor, digest_of, registry
from support.small_job import BUILT, write_job
from support.smspec_command import environment, smspec, smspec_process

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


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    with (
        s3_server() as store,
        job_server() as jobs,
        posing_aws(
            tmp_path_factory.mktemp("aws"), store.environ["S3_ENDPOINT_URL"], jobs.environ["AWS_ENDPOINT_URL"]
        ) as aws,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
            patch.delenv(name, raising=False)
        for name, value in aws.environ.items():
            patch.setenv(name, value)
        patch.setattr("smspec.submission.following.INTERVAL_SECONDS", 0)
        yield store, jobs, aws


class Account:
    """What exists in the account, at moto."""

    def __init__(self, store, jobs, aws):
        self.store, self.jobs, self.aws = store, jobs, aws

    def client(self, service, region=REGION):
        keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
        return boto3.client(service, region_name=region, endpoint_url=self.aws.moto, **keys)

    def add_image(self, architecture="amd64"):
        """Put an image into the repository, and its config where the link to it leads."""
        content = config(f"linux/{architecture}")
        layers = [descriptor("application/vnd.docker.image.rootfs.diff.tar.gzip", b"layer")]
        parts = {"config": descriptor("application/vnd.docker.container.image.v1+json", content), "layers": layers}
        manifest = json.dumps({"schemaVersion": 2, "mediaType": _DOCKER, **parts})
        ecr = self.client("ecr")
        ecr.put_image(repositoryName="small", imageManifest=manifest, imageManifestMediaType=_DOCKER, imageTag="1")
        self.store.put("config", content)
        link = self.store.client.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "config"})
        answer = json.dumps({"downloadUrl": link, "layerDigest": digest_of(content)}).encode()
        self.aws.faults["ecr GetDownloadUrlForLayer"] = answer

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


@pytest.fixture
def account(servers, monkeypatch, tmp_path):
    """Everything that the job needs, and the job in the current directory."""
    store, jobs, aws = servers
    jobs.reset()
    jobs.first_looks = [COMPLETED]
    aws.reset()
    found = Account(store, jobs, aws)
    found.client("s3").put_object(Bucket=BUCKET, Key="data/part-0.csv", Body=b"1")
    iam = found.client("iam")
    iam.create_role(RoleName="Training", Path="/service-role/", AssumeRolePolicyDocument=json.dumps(TRUST))
    found.client("ecr").create_repository(repositoryName="small")
    found.add_image()
    found.list_quotas(**{"ml.m5.large for training job usage": 4.0})
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SMSPEC_HTTP_TIMEOUT", raising=False)
    write_job(tmp_path, SPEC)
    yield found
    for alias in found.client("kms").list_aliases()["Aliases"]:
        if alias["AliasName"] == "alias/mine":
            found.client("kms").delete_alias(AliasName="alias/mine")
    iam.update_assume_role_policy(RoleName="Training", PolicyDocument=json.dumps(TRUST))
    iam.delete_role(RoleName="Training")
    found.client("ecr").delete_repository(repositoryName="small", force=True)


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


def test_all_rows_of_a_job_that_can_run(account):
    found = dry()
    assert {kind: state for (kind, _), (state, _) in found.items()} == {
        "caller": "ok",
        "job": "ok",
        "image": "ok",
        "bucket": "ok",
        "channel": "ok",
        "role": "ok",
        "quota": "ok",
    }, found
    assert found["bucket", BUCKET] == ("ok", f"in {REGION}; train, output")
    assert found["role", "Training"] == ("ok", "exists, and trusts sagemaker.amazonaws.com")
    assert found["quota", ""] == ("ok", "4 of `ml.m5.large for training job usage`")
    assert found["image", f"{REPOSITORY}:1"] == ("ok", "exists, for linux/amd64")
    assert len(account.aws.asked) <= 12 and account.jobs.created == []


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


@pytest.mark.parametrize("kind", DENIALS)
def test_denied_call_is_not_checked(account, tmp_path, kind):
    operation, action = DENIALS[kind]
    write_job(tmp_path, of_kind(kind))
    account.aws.faults[operation] = DENIED
    state, text = row(kind)
    assert state == "not checked" and f"AWS denies `{action}`" in text, text
    # Every caller may ask STS who it is (IAM user guide).
    assert kind == "caller" or action in smspec("render", "--iam-policy=submitter").out


@pytest.mark.parametrize("fault", [DROP, HANG, DRIP, "html", "json", "throttled"])
@pytest.mark.parametrize("kind", DENIALS)
def test_call_without_a_usable_answer_is_not_checked_in_time(account, tmp_path, monkeypatch, kind, fault):
    monkeypatch.setenv("SMSPEC_HTTP_TIMEOUT", "4")
    faults = {
        "html": b"<html><body>Log in</body></html>",
        "json": b'{"a": [1, {"b": ',
        "throttled": Refusal(400, "ThrottlingException"),
    }
    write_job(tmp_path, of_kind(kind))
    account.aws.faults[DENIALS[kind][0]] = faults.get(fault, fault)
    started = time.monotonic()
    state, text = row(kind)
    assert state == "not checked" and text, text
    assert time.monotonic() - started < 30


def of_kind(kind):
    """Return a spec whose job has rows of a kind."""
    if kind == "KMS key":
        return SPEC.replace(f"output: s3://{BUCKET}/out/", f"output: {{s3: s3://{BUCKET}/out/, kms_key: alias/mine}}")
    if kind == "network":
        return SPEC + "network: {subnets: [subnet-00000001], security_groups: [sg-00000001]}\n"
    if kind == "training plan":
        return SPEC.replace("volume: 10GB", f"volume: 10GB, training_plan: {PLAN}")
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


WRONG = {
    "quota of 1": (
        lambda it: it.list_quotas(**{"ml.m5.large for training job usage": 1.0}),
        SPEC,
        "quota",
        1,
        "the job needs 2 of `ml.m5.large for training job usage`, and the quota is 1",
    ),
    "role that does not exist": (
        lambda it: None,
        SPEC.replace("/Training", "/Other"),
        "role",
        1,
        f"does not exist in account {ACCOUNT}",
    ),
    "role that trusts another service": (
        lambda it: it.trust("glue.amazonaws.com"),
        SPEC,
        "role",
        3,
        "does not trust sagemaker.amazonaws.com",
    ),
    "role of another account": (
        lambda it: None,
        SPEC.replace(ROLE, ROLE.replace(ACCOUNT, "210987654321")),
        "caller",
        3,
        "the role is in account 210987654321",
    ),
    "expired credentials": (
        lambda it: it.aws.faults.update({"sts GetCallerIdentity": Refusal(403, "ExpiredToken")}),
        SPEC,
        "caller",
        3,
        "have expired",
    ),
    "unknown credentials": (
        lambda it: it.aws.faults.update({"sts GetCallerIdentity": Refusal(403, "InvalidClientTokenId")}),
        SPEC,
        "caller",
        3,
        "does not accept the credentials",
    ),
    "skewed clock": (
        lambda it: it.aws.faults.update(
            {
                "sts GetCallerIdentity": Refusal(
                    403, "SignatureDoesNotMatch", "Signature not yet current: 1 is still later than 2"
                )
            }
        ),
        SPEC,
        "caller",
        3,
        "set the clock of this machine",
    ),
    "bucket that does not exist": (
        lambda it: None,
        SPEC.replace(f"s3://{BUCKET}/out/", "s3://no-such-bucket/out/"),
        "bucket",
        1,
        "does not exist; output",
    ),
    "bucket of another region": (
        lambda it: it.bucket("in-europe", "eu-west-1"),
        SPEC.replace(f"s3://{BUCKET}/out/", "s3://in-europe/out/"),
        "bucket",
        1,
        "is in eu-west-1, but the job runs in us-west-2; output",
    ),
    "access point of another region": (
        lambda it: None,
        SPEC.replace(f"s3://{BUCKET}/out/", f"s3://arn:aws:s3:eu-west-1:{ACCOUNT}:accesspoint/mine/out/"),
        "bucket",
        1,
        "is in eu-west-1",
    ),
    "channel without data": (lambda it: None, SPEC.replace("/data/", "/none/"), "channel", 1, "no objects begin with"),
    "manifest that does not exist": (
        lambda it: None,
        SPEC.replace(f"train: s3://{BUCKET}/data/", f"train: {{s3: s3://{BUCKET}/list, s3_data_type: ManifestFile}}"),
        "channel",
        1,
        "no such object",
    ),
    "image that does not exist": (
        lambda it: None,
        SPEC.replace("small:1", "small:2"),
        "image",
        1,
        "does not exist in its repository",
    ),
    "repository that does not exist": (
        lambda it: None,
        SPEC.replace("small:1", "large:1"),
        "image",
        1,
        f"its repository does not exist in account {ACCOUNT}",
    ),
    "image of another platform": (
        lambda it: it.add_image("arm64"),
        SPEC,
        "image",
        1,
        "is for linux/arm64, but the instances are linux/amd64",
    ),
    "key that does not exist": (lambda it: None, None, "KMS key", 1, "does not exist in us-west-2"),
    "key that is disabled": (lambda it: it.key(is_enabled=False), None, "KMS key", 3, "is Disabled, not Enabled"),
    "key for signatures": (
        lambda it: it.key(KeySpec="RSA_2048", KeyUsage="SIGN_VERIFY"),
        None,
        "KMS key",
        1,
        "is of the type RSA_2048",
    ),
    "subnet that does not exist": (lambda it: None, None, "network", 1, "subnet-00000001"),
    "plan that has expired": (lambda it: it.plan("Expired"), None, "training plan", 1, "is Expired"),
    "plan that does not exist": (
        lambda it: it.aws.faults.update({"sagemaker DescribeTrainingPlan": Refusal(400, "ResourceNotFound")}),
        None,
        "training plan",
        1,
        "does not exist in us-west-2",
    ),
    "secret that does not exist": (lambda it: None, None, "secret", 1, "does not exist"),
    "file system that is deleted": (
        lambda it: it.aws.faults.update(
            {
                "elasticfilesystem GET": json.dumps({"FileSystems": [DELETED]}).encode(),
                "ec2 DescribeSubnets": DENIED,
            }
        ),
        None,
        "file system",
        3,
        "is deleting, not available",
    ),
    "file system that does not exist": (lambda it: None, None, "file system", 1, "does not exist in us-west-2"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_row_ends_the_submission(account, tmp_path, case):
    """The exit status is 1 for what the spec says, and 3 for what surrounds it."""
    prepare, spec, kind, status, words = WRONG[case]
    prepare(account)
    write_job(tmp_path, spec or of_kind(kind))
    found = [text for (each, _), (state, text) in dry(status).items() if each == kind and state == "wrong"]
    assert len(found) == 1 and words in found[0], found
    account.aws.asked.clear()
    done = smspec("submit", "--detach")
    assert (done.status, done.out, account.jobs.created) == (status, "", []), done.err
    assert done.err.splitlines()[-1].startswith("smspec: ") and words in done.err
    assert not [each for each in account.aws.asked if each.startswith(("s3 PUT", "ecr Create", "sagemaker Create"))]


def test_rows_of_what_else_a_job_names(account, tmp_path):
    account.key()
    account.plan("Active")
    ec2 = account.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName="jobs", Description="jobs", VpcId=vpc)["GroupId"]
    system = account.client("efs").create_file_system(CreationToken="data")["FileSystemId"]
    for kind, expected in (
        ("KMS key", f"is Enabled, in account {ACCOUNT}"),
        ("training plan", "is Active"),
        ("network", f"are in {vpc}"),
        ("file system", "is available"),
    ):
        spec = of_kind(kind).replace("subnet-00000001", subnet).replace("sg-00000001", group)
        write_job(tmp_path, spec.replace("fs-00000001", system))
        assert row(kind) == ("ok", expected)
    other = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    elsewhere = ec2.create_security_group(GroupName="more", Description="more", VpcId=other)["GroupId"]
    write_job(tmp_path, of_kind("network").replace("subnet-00000001", subnet).replace("sg-00000001", elsewhere))
    assert row("network", 1) == ("wrong", f"are in different VPCs: {vpc}: {subnet}; {other}: {elsewhere}")


def test_secret_is_looked_for_without_its_value(account, tmp_path):
    client = account.client("secretsmanager")
    arn = client.create_secret(Name="token", SecretString="the-value-of-the-secret")["ARN"]
    write_job(tmp_path, of_kind("secret").replace(SECRET, arn))
    assert row("secret") == ("ok", "exists")
    assert not [each for each in account.aws.asked if "GetSecretValue" in each]
    account.client("ssm").put_parameter(Name="/team/token", Value="v", Type="SecureString")
    for name, expected in (("team/token", ("ok", "exists")), ("team/none", ("wrong", "does not exist"))):
        parameter = f"arn:aws:ssm:{REGION}:{ACCOUNT}:parameter/{name}"
        write_job(tmp_path, of_kind("secret").replace(SECRET, parameter))
        assert row("secret", 0 if expected[0] == "ok" else 1) == expected
    client.delete_secret(SecretId="token")
    write_job(tmp_path, of_kind("secret").replace(SECRET, arn))
    assert row("secret", 3) == ("wrong", "is scheduled for deletion")
    client.delete_secret(SecretId="token", ForceDeleteWithoutRecovery=True)


def test_bucket_is_asked_for_once(account, tmp_path):
    channels = ", ".join(f"c{number}: s3://{BUCKET}/data/" for number in range(20))
    write_job(tmp_path, SPEC.replace(f"train: s3://{BUCKET}/data/", channels))
    found = dry()
    assert found["bucket", BUCKET] == ("ok", f"in {REGION}; c0, c1, c2, c3, c4, and 16 more")
    assert account.aws.asked.count("s3 HEAD") == 1
    assert account.aws.asked.count("s3 GET") == 1, "the same address is looked up once"


def test_caller_who_may_list_prefixes_only_sees_the_bucket(account):
    """The policy that `render --iam-policy=submitter` prints denies HeadBucket."""
    account.aws.faults["s3 HEAD"] = DENIED
    assert row("bucket") == ("ok", f"in {REGION}; train, output")
    account.aws.faults["s3 GET location"] = DENIED
    assert row("bucket") == ("not checked", "AWS denies `s3:GetBucketLocation`")


def test_existing_job_needs_no_row_but_its_own(account):
    assert smspec("submit", "--detach").status == 0
    account.aws.asked.clear()
    assert {kind for kind, _ in dry()} == {"caller", "job"}
    assert sorted(each for each in account.aws.asked if not each.startswith("sagemaker")) == ["sts GetCallerIdentity"]


def test_alternative_within_its_quota_is_enough(account, tmp_path):
    kinds = {"ml.g5.xlarge": 1, "ml.m5.large": 2}
    either = [f"{{instance_type: {kind}, count: {count}, volume: 10GB}}" for kind, count in kinds.items()]
    either = f"any_of: [{', '.join(either)}]"
    write_job(tmp_path, re.sub("instance_type: ml.m5.large, count: 2, volume: 10GB", either, SPEC))
    of = "for training job usage"
    account.list_quotas(**{f"ml.m5.large {of}": 2.0, f"ml.g5.xlarge {of}": 0.0})
    assert row("quota") == ("ok", f"2 of `ml.m5.large {of}`; 1 of 2 alternatives are above their quota")
    account.list_quotas(**{f"ml.m5.large {of}": 1.0, f"ml.g5.xlarge {of}": 0.0})
    state, text = row("quota", 1)
    assert state == "wrong" and f"needs 1 of `ml.g5.xlarge {of}`, and the quota is 0; " in text


def test_image_of_aws_that_cannot_be_read_is_not_checked(account, tmp_path):
    uri = f"763104351884.dkr.ecr.{REGION}.amazonaws.com/pytorch-training:2.5.1-cpu-py311-ubuntu22.04-sagemaker"
    write_job(tmp_path, SPEC.replace(f"{REPOSITORY}:1", uri))
    state, text = row("image")
    assert state == "not checked" and "as far as AWS shows its own images" in text
    write_job(tmp_path, SPEC.replace(f"{REPOSITORY}:1", uri))
    account.aws.faults["ecr BatchGetImage"] = Refusal(400, "AccessDeniedException")
    assert row("image") == ("not checked", "AWS denies `ecr:BatchGetImage`; AWS owns the image")


BUILT_HERE = re.sub(r"role: \S+", f"role: {ROLE}", BUILT.replace("s3://models", f"s3://{BUCKET}"))


def started(*words, **options):
    """Start the command as a process of its own, with its standard error as a pipe."""
    return subprocess.Popen(
        [sys.executable, "-m", "smspec", "submit", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=environment(SMSPEC_HTTP_TIMEOUT="120"),
        text=True,
        **options,
    )


@pytest.mark.parametrize(
    "operation", ["sagemaker DescribeTrainingJob", "sts GetCallerIdentity", "iam GetRole", "s3 HEAD"]
)
def test_wait_is_shown_and_can_be_interrupted(account, operation):
    """The plan is there before the first answer, and Ctrl-C leaves nothing."""
    account.aws.faults[operation] = HANG
    process = started()
    plan = process.stderr.readline()
    assert plan.startswith("job small-"), plan
    lines = [process.stderr.readline() for _ in range(3)]
    assert lines[-1].startswith("waiting for "), lines
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in rest, rest
    assert time.monotonic() - begun < 30, "no thread keeps the process"
    assert account.jobs.created == [] and not [each for each in account.aws.asked if each.startswith("s3 PUT")]


def test_table_fits_a_terminal(account, tmp_path):
    """With colours there, and with neither colours nor breaks elsewhere."""
    write_job(tmp_path, SPEC.replace("small:1", "small:" + "a-long-tag-" * 8))
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "smspec", "submit", "--dry-run"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=environment(TERM="xterm"),
    )
    os.close(terminal)
    text = ""
    with contextlib.suppress(OSError):  # the terminal is closed at the end
        while chunk := os.read(controller, 65536):
            text += chunk.decode()
    os.close(controller)
    assert process.wait(timeout=60) == 1
    assert "\x1b[32mok" in text and "\x1b[1;31mwrong" in text
    lines = [re.sub(r"\x1b\[[0-9;]*[mK]", "", line).rpartition("\r")[2] for line in text.split("\r\n")]
    table = lines[next(index for index, line in enumerate(lines) if line.startswith("ok")) :]
    table = table[: next(index for index, line in enumerate(table) if line.startswith("smspec: "))]
    assert table and max(map(len, table)) <= 80, table
    plain = smspec("submit", "--dry-run").err
    assert "\x1b" not in plain
    assert re.search(rf"^wrong +image +{REPOSITORY}:\S+: does not exist in its repository$", plain, re.MULTILINE)


def test_name_of_ecr_that_does_not_resolve(account, tmp_path, monkeypatch):
    write_job(tmp_path, BUILT_HERE)
    monkeypatch.setenv("AWS_ENDPOINT_URL_ECR", "http://ecr.invalid")
    monkeypatch.setenv("no_proxy", "127.0.0.1,ecr.invalid")
    state, text = row("image")
    assert state == "not checked" and "cannot resolve `ecr.invalid`" in text
    done = smspec("submit", "--detach")
    assert (done.status, account.jobs.created) == (3, []) and "cannot resolve `ecr.invalid`" in done.err


def test_registry_of_an_emulator_has_the_image(account, tmp_path, monkeypatch):
    """The address of the registry is in an overlay, so it is part of what is checked."""
    kind, manifest, content = docker_image()
    with registry() as images:
        ignored = "{ignore: [{rule: SM437, because: the emulator has a registry of its own}]}"
        overlay = f"{{image: {{repository: {images.host}/small}}, checks: {ignored}}}"
        write_job(tmp_path, f"{BUILT_HERE}overlays: {{local: {overlay}}}\n")
        monkeypatch.setenv("AWS_ENDPOINT_URL", account.aws.moto)
        monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER", account.jobs.environ["AWS_ENDPOINT_URL"])
        image = json.loads(smspec("render", "--api-json", "-O", "local").out)["AlgorithmSpecification"]["TrainingImage"]
        images.contents["small", image.rpartition(":")[2]] = kind, manifest
        images.contents["small", digest_of(content)] = "application/octet-stream", content
        done = smspec("submit", "-O", "local", "--detach")
        assert done.status == 0, done.err
        assert re.search(r"^ok +image +is in its registry$", done.err, re.MULTILINE)
    assert account.jobs.created[0]["AlgorithmSpecification"]["TrainingImage"] == image
    assert image.startswith(f"{images.host}/small:")


def test_endpoint_of_the_user_decides_nothing_about_an_account(account, tmp_path, monkeypatch):
    """An emulator lacks roles, keys, and networks of AWS, and accepts jobs that use them."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", account.aws.moto)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER", account.jobs.environ["AWS_ENDPOINT_URL"])
    monkeypatch.setenv("AWS_ENDPOINT_URL_ECR", account.aws.moto + "/")
    for kind in ("KMS key", "network", "secret", "file system"):
        write_job(tmp_path, of_kind(kind).replace(ACCOUNT, "210987654321"))
        found = dry()
        assert {state for state, _ in found.values()} <= {"ok", "not checked"}, found
        assert "`127.0.0.1`" in next(text for (each, _), (_, text) in found.items() if each == kind)


ODD = {
    "a bucket with dots": ("s3://my.bucket.of-logs/out/", "wrong", "does not exist"),
    "an access point": (f"s3://arn:aws:s3:{REGION}:{ACCOUNT}:accesspoint/mine/out/", "not checked", ""),
    "a directory bucket": ("s3://logs--usw2-az1--x-s3/out/", "", ""),
    "an alias of an access point": ("s3://mine-1a2b3c-s3alias/out/", "wrong", "does not exist"),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_bucket_has_a_row(account, tmp_path, case):
    uri, state, words = ODD[case]
    write_job(tmp_path, SPEC.replace(f"output: s3://{BUCKET}/out/", f"output: {uri}"))
    done = smspec("submit", "--dry-run", "--format", "json")
    assert done.status in (0, 1), done.err
    found = [value for (kind, name), value in rows(done).items() if kind == "bucket" and name != BUCKET]
    assert len(found) == 1 and found[0][0].startswith(state) and words in found[0][1], found


def test_data_whose_reader_pays_are_not_checked(account):
    """S3 denies the list of such a bucket to a request that does not accept the costs."""
    account.aws.faults["s3 GET"] = DENIED
    state, text = row("channel")
    assert state == "not checked" and "AWS denies `s3:ListBucket`" in text


PROFILES = {
    "sso": """\
[profile a]
sso_session = s
sso_account_id = 123456789012
sso_role_name = r
[sso-session s]
sso_region = us-west-2
sso_start_url = https://example.awsapps.com/start
""",
    "a device": """\
[profile a]
role_arn = arn:aws:iam::123456789012:role/ci
mfa_serial = arn:aws:iam::123456789012:mfa/me
source_profile = b
[profile b]
aws_access_key_id = testing
aws_secret_access_key = testing
""",
    "a process that fails": "[profile a]\ncredential_process = false\n",
    "a process that prints no keys": "[profile a]\ncredential_process = echo {}\n",
}


@pytest.mark.parametrize("case", PROFILES)
def test_credentials_that_cannot_be_had(account, tmp_path, case):
    """The plan is printed, then one sentence; standard input is empty."""
    (tmp_path / "config").write_text(PROFILES[case])
    unset = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "")
    process = smspec_process(
        *("submit", "--profile", "a"),
        env=environment(AWS_CONFIG_FILE=str(tmp_path / "config"), HOME=str(tmp_path), **unset),
    )
    assert process.status == 3, process.err
    assert process.err.startswith("job small-") and "Traceback" not in process.err
    assert process.err.splitlines()[-1].startswith("smspec: "), process.err


@pytest.mark.parametrize("url", ["{moto}/a/path", "http://[::1]:9", "http://127.0.0.1:9", "http://nowhere.invalid"])
def test_endpoint_that_leads_nowhere_is_not_checked(account, monkeypatch, url):
    for service in ("STS", "IAM", "KMS", "ECR", "SERVICE_QUOTAS", "S3"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", url.format(moto=account.aws.moto))
    monkeypatch.setenv("no_proxy", "127.0.0.1,nowhere.invalid,[::1]")
    done = smspec("submit", "--dry-run", "--format", "json")
    assert done.status in (0, 1), done.err
    assert "Traceback" not in done.err and "internal error" not in done.err
    states = {kind: state for (kind, _), (state, _) in rows(done).items()}
    assert {states[kind] for kind in ("caller", "role", "image", "quota")} == {"not checked"}, done.err


def test_code_of_a_device_is_asked_for_once(account, tmp_path):
    """All sessions of the command share the role's credentials, and no line is drawn over the question."""
    (tmp_path / "config").write_text(PROFILES["a device"])
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "smspec", "submit", "--detach", "--profile", "a"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        env=environment(
            AWS_CONFIG_FILE=str(tmp_path / "config"), AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="", TERM="xterm"
        ),
    )
    os.close(terminal)
    text = ""
    with contextlib.suppress(OSError):
        while chunk := os.read(controller, 65536):
            text += chunk.decode()
            if text.endswith("mfa/me: "):
                os.write(controller, b"123456\n")
    os.close(controller)
    assert process.wait(timeout=60) == 0, text
    assert text.count("Enter MFA code") == 1 and "waiting for AWS credentials" not in text
    assert len(account.jobs.created) == 1
