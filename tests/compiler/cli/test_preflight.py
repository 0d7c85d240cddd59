"""The table of `smspec submit`, against moto and a scripted SageMaker behind the names of AWS."""

import json
import re

import pytest

from support.aws_account import (
    ACCOUNT,
    DELETED,
    DENIED,
    REPOSITORY,
    ROLE,
    SECRET,
    SPEC,
    TRUST,
    dry,
    of_kind,
    row,
    rows,
)
from support.servers.aws_server import BUCKET, REGION
from support.servers.posing_aws import Refusal
from support.small_job import write_job
from support.smspec_command import smspec


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
    "role whose ARN lacks its path": (
        lambda it: None,
        SPEC.replace("service-role/", ""),
        "role",
        1,
        "is `role/service-role/Training`, not `role/Training`",
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


def test_quotas_without_an_end_are_left(account):
    """The token is a different one each time, so the list never ends by itself."""
    pages = iter(range(1000))
    account.aws.faults["servicequotas ListServiceQuotas"] = lambda: json.dumps(
        {"Quotas": [{"QuotaName": "other", "Value": 1.0}], "NextToken": str(next(pages))}
    ).encode()
    state, text = row("quota")
    assert (state, account.aws.asked.count("servicequotas ListServiceQuotas")) == ("not checked", 50)
    assert text == (
        "Service Quotas does not list `ml.m5.large for training job usage` on 50 pages, after which smspec stops"
    )


def test_image_of_aws_that_cannot_be_read_is_not_checked(account, tmp_path):
    uri = f"763104351884.dkr.ecr.{REGION}.amazonaws.com/pytorch-training:2.5.1-cpu-py311-ubuntu22.04-sagemaker"
    write_job(tmp_path, SPEC.replace(f"{REPOSITORY}:1", uri))
    state, text = row("image")
    assert state == "not checked" and "as far as AWS shows its own images" in text
    write_job(tmp_path, SPEC.replace(f"{REPOSITORY}:1", uri))
    account.aws.faults["ecr BatchGetImage"] = Refusal(400, "AccessDeniedException")
    assert row("image") == ("not checked", "AWS denies `ecr:BatchGetImage`; AWS owns the image")


CACHES = {
    "its prefix": (("hub", "docker"), "hub/library/python:3.12", "hub"),
    "a prefix of several names": (("team/hub",), "team/hub/python:3.12", "team/hub"),
    "every repository": (("ROOT",), "python:3.12", "ROOT"),
    "a new tag": (("ROOT",), "small:2", "ROOT"),
    "a prefix that begins alike": (("hu", "hub-2"), "hub/python:3.12", None),
    "the repository itself": (("hub",), "hub:1", None),
    "none": ((), "hub/python:3.12", None),
}


@pytest.mark.parametrize("case", CACHES)
def test_image_that_a_pull_through_cache_creates(account, tmp_path, case):
    prefixes, image, rule = CACHES[case]
    account.list_cache_rules(*prefixes)
    write_job(tmp_path, SPEC.replace("small:1", image))
    state, text = row("image", 0 if rule else 1)
    assert state == ("not checked" if rule else "wrong")
    ends = f"at the first pull, the pull-through cache rule `{rule}` may copy it from `registry-1.docker.io`"
    assert text.endswith(ends if rule else ("in its repository" if "small" in image else f"in account {ACCOUNT}"))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        pytest.param(
            Refusal(400, "AccessDeniedException"), "AWS denies `ecr:DescribePullThroughCacheRules`", id="denied"
        ),
        pytest.param(Refusal(400, "UnknownOperationException"), "does not support", id="unknown"),
        pytest.param(Refusal(400, "InvalidParameterException", "so"), "InvalidParameterException: so", id="refused"),
        pytest.param(b"{}", "does not contain its rules", id="empty"),
        pytest.param(b'{"pullThroughCacheRules": {"a": 1}}', "is not of the type", id="map"),
        pytest.param(b'{"pullThroughCacheRules": [], "nextToken": "a"}', None, id="endless"),
        pytest.param(b'{"pullThroughCacheRules": [null]}', "is not of the type", id="null"),
        pytest.param(b'{"pullThroughCacheRules": [{}, {"ecrRepositoryPrefix": null}]}', None, id="empty-rule"),
    ],
)
def test_image_that_an_unknown_cache_may_create(account, tmp_path, fault, words):
    account.aws.faults["ecr DescribePullThroughCacheRules"] = fault
    write_job(tmp_path, SPEC.replace("small:1", "hub/python:3.12"))
    done = smspec("submit", "--dry-run", "--format", "json")
    (found,) = [value for (kind, _), value in rows(done).items() if kind == "image"]
    assert (found[0] == "not checked" and words in found[1]) if words else found[0] == "wrong", found


def test_usable_role_and_key_are_ok(account, tmp_path):
    """Everyone is SageMaker too, and a key whose primary region changes encrypts."""
    text = json.dumps(TRUST).replace('"Service": "sagemaker.amazonaws.com"', '"AWS": "*"')
    account.client("iam").update_assume_role_policy(RoleName="Training", PolicyDocument=text)
    account.key()
    account.aws.answers["kms DescribeKey"] = lambda body: body.replace(b'"Enabled"', b'"Updating"')
    write_job(tmp_path, of_kind("KMS key"))
    found = dry()
    assert found["role", "Training"] == ("ok", "exists, and trusts sagemaker.amazonaws.com")
    assert found["KMS key", "alias/mine"] == ("ok", f"is Updating, in account {ACCOUNT}")


def test_data_are_looked_for_in_a_bucket_of_unknown_region(account):
    account.aws.faults["s3 HEAD"] = Refusal(503, "SlowDown")
    found = dry()
    assert found["bucket", BUCKET][0] == "not checked"
    assert found["channel", "train"] == ("ok", "has data")


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
