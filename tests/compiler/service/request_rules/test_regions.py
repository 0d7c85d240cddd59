"""Regions and partitions that must agree."""

import pytest

from maintenance.instance_tables import partition_rows
from smspec.service.arns import is_listed, nearest_region, partition_of, partitions
from smspec.service.request import IMAGE
from smspec.service.request_rules import request_findings
from smspec.service.s3_address import as_s3, bucket_of, key_of, region_of
from support.service.api_samples import changed, small_request, with_the_pinned_model

HERE, THERE = "us-west-2", "eu-west-1"


def kms(region=HERE, partition="aws"):
    return f"arn:{partition}:kms:{region}:111122223333:key/0123"


def sagemaker(what, region=HERE, partition="aws"):
    return f"arn:{partition}:sagemaker:{region}:111122223333:{what}"


def arns(*where):
    """Return requests that name something in a place, each with the member that names it."""
    channel = {"ChannelName": "train"}
    hub = sagemaker("hub-content/Hub/DataSet/clicks", *where)
    yield (
        {"OutputDataConfig": small_request()["OutputDataConfig"] | {"KmsKeyId": kms(*where)}},
        (
            "OutputDataConfig",
            "KmsKeyId",
        ),
    )
    yield (
        {"ResourceConfig": small_request()["ResourceConfig"] | {"VolumeKmsKeyId": kms(*where)}},
        (
            "ResourceConfig",
            "VolumeKmsKeyId",
        ),
    )
    plan = sagemaker("training-plan/plan", *where)
    yield (
        {"ResourceConfig": small_request()["ResourceConfig"] | {"TrainingPlanArn": plan}},
        (
            "ResourceConfig",
            "TrainingPlanArn",
        ),
    )
    yield (
        {"ResourceConfig": {"InstancePreferences": [{"InstanceType": "ml.g5.xlarge", "TrainingPlanArns": [plan]}]}},
        ("ResourceConfig", "InstancePreferences", 0, "TrainingPlanArns", 0),
    )
    yield (
        {"AlgorithmSpecification": {"AlgorithmName": sagemaker("algorithm/mine", *where), "TrainingInputMode": "File"}},
        ("AlgorithmSpecification", "AlgorithmName"),
    )
    yield (
        {"MlflowConfig": {"MlflowResourceArn": sagemaker("mlflow-tracking-server/mine", *where)}},
        (
            "MlflowConfig",
            "MlflowResourceArn",
        ),
    )
    yield (
        {"InputDataConfig": [channel | {"DataSource": {"DatasetSource": {"DatasetArn": hub}}}]},
        (
            "InputDataConfig",
            0,
            "DataSource",
            "DatasetSource",
            "DatasetArn",
        ),
    )


CODES = ("SM371", "SM477", "SM478", "SM801")
IN_CHINA = "111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn/small:1"


def role(partition):
    return f"arn:{partition}:iam::111122223333:role/SageMakerTraining"


def found(request, region=None):
    return [(found.code, found.path) for found in request_findings(request, region=region) if found.code in CODES]


@pytest.mark.parametrize(("parts", "path"), [*arns(THERE)][:-1], ids=lambda part: str(part)[:40])
def test_resources_must_be_in_the_region_of_the_job(parts, path):
    assert found(changed(**parts), HERE) == [("SM477", path)]
    assert found(changed(**parts)) == []


@pytest.mark.parametrize(("parts", "path"), [*arns(THERE, "aws-cn")], ids=lambda part: str(part)[:40])
def test_resources_must_be_in_the_partition_of_the_role(parts, path):
    assert found(changed(**parts)) == [("SM478", path)]
    if "AlgorithmSpecification" not in parts:
        parts = parts | {"AlgorithmSpecification": {"TrainingImage": IN_CHINA, "TrainingInputMode": "File"}}
    assert found(changed(**parts, RoleArn=role("aws-cn"))) == []


@pytest.mark.parametrize(("parts", "path"), [*arns(HERE)], ids=lambda part: str(part)[:40])
def test_available_resources_are_not_reported(parts, path):
    assert found(changed(**parts), HERE) == []


OF_S3 = [
    pytest.param("s3://arn:aws:s3:{}:111122223333:accesspoint/x/k/", id="access-point"),
    pytest.param("s3://arn:aws:s3-outposts:{}:111122223333:outpost/op-1/accesspoint/x/k/", id="outpost"),
    pytest.param("https://example.s3.{}.amazonaws.com/k/", id="virtual-host"),
    pytest.param("https://s3.{}.amazonaws.com/example/k/", id="path-style"),
    pytest.param("https://s3-{}.amazonaws.com/example/k/", id="old-path-style"),
    pytest.param("https://example.s3-{}.amazonaws.com/k/", id="old-virtual-host"),
    pytest.param("https://example.s3.dualstack.{}.amazonaws.com/k/", id="dual-stack"),
    pytest.param("https://example.s3-fips.{}.amazonaws.com/k/", id="fips"),
    pytest.param("https://s3-fips-{}.amazonaws.com/example/k/", id="old-fips"),
    pytest.param("https://x-111122223333.s3-accesspoint.{}.amazonaws.com/k/", id="host-of-an-access-point"),
    pytest.param("https://bucket.vpce-0123-abc.s3.{}.vpce.amazonaws.com/example/k/", id="vpc-endpoint"),
    pytest.param("https://example.bucket.vpce-0123-abc.s3.{}.vpce.amazonaws.com/k/", id="bucket-of-a-vpc-endpoint"),
    pytest.param("https://example.s3-website-{}.amazonaws.com/k/", id="website"),
    pytest.param("https://example.s3-website.{}.amazonaws.com/k/", id="new-website"),
]
WITHOUT_A_REGION = (
    *("s3://example/eu-west-1/", "s3://eu-west-1/x/", f"s3://x-{'a' * 34}-s3alias/k/", "https://s3.amazonaws.com/x/k/"),
    *("https://eu-west-1.s3.amazonaws.com/k/", "https://example.s3-accelerate.dualstack.amazonaws.com/eu-west-1/"),
    *("s3://arn:aws:s3::111122223333:accesspoint/a.mrap/k/", "https://files.example.com/s3.eu-west-1/"),
)


@pytest.mark.parametrize("address", OF_S3)
def test_s3_address_of_another_region(address):
    for member, name in (("OutputDataConfig", "S3OutputPath"), ("CheckpointConfig", "S3Uri")):
        requests = [changed(**{member: {name: address.format(region)}}) for region in (THERE, HERE)]
        assert [found(each, HERE) for each in requests] == [[("SM477", (member, name))], []]
        assert found(requests[0]) == []


@pytest.mark.parametrize("address", WITHOUT_A_REGION)
def test_s3_address_without_a_region(address):
    assert region_of(address) is None
    assert found(changed(OutputDataConfig={"S3OutputPath": address}), HERE) == []


@pytest.mark.parametrize(
    ("host", "bucket"),
    [
        pytest.param("bucket.vpce-0123-abc.s3.us-west-2.vpce.amazonaws.com/example", "example", id="vpc-endpoint"),
        pytest.param("example.bucket.vpce-0123-abc.s3.us-west-2.vpce.amazonaws.com", "example", id="vpc-and-bucket"),
        pytest.param("x-1.accesspoint.vpce-0123-abc.s3.us-west-2.vpce.amazonaws.com", "x-1", id="vpc-and-access-point"),
        pytest.param("my.s3.example.s3.us-west-2.amazonaws.com", "my.s3.example", id="bucket-with-a-label-of-s3"),
        pytest.param("s3-example.s3.us-west-2.amazonaws.com", "s3-example", id="bucket-that-begins-like-a-host"),
        pytest.param("example.s3.us-west-2.amazonaws.com:443", "example", id="port"),
        pytest.param("example.s3.cn-north-1.amazonaws.com.cn", "example", id="china"),
        pytest.param("example.s3.us-west-2.amazonaws.com.example.org", None, id="host-that-poses-as-one"),
        pytest.param("example.s3.us-west-2.amazonaws.org", None, id="suffix-of-no-partition"),
    ],
)
def test_bucket_of_a_url(host, bucket):
    assert bucket_of(f"https://{host}/k/") == bucket
    assert bucket is None or key_of(as_s3(f"https://{host}/k/")) == "k/"


def test_hub_content_may_be_in_another_region():
    """No public document forbids it."""
    parts, _ = [*arns(THERE)][-1]
    assert found(changed(**parts), HERE) == []


def test_arns_in_hyperparameters_and_tags_are_not_checked():
    topic = "arn:aws-cn:sns:cn-north-1:111122223333:topic"
    request = changed(
        HyperParameters={"topic": topic}, Environment={"TOPIC": topic}, Tags=[{"Key": "topic", "Value": topic}]
    )
    assert found(request, HERE) == []


@pytest.mark.parametrize(
    ("image", "region", "is_told"),
    [
        ("111122223333.dkr.ecr.us-west-2.amazonaws.com/x:1", "eu-west-1", True),
        ("111122223333.dkr.ecr.us-west-2.amazonaws.com/x:1", "us-west-2", False),
        ("111122223333.dkr.ecr.us-west-2.amazonaws.com/x:1", None, False),
        ("public.ecr.aws/x/y:1", "eu-west-1", False),
        ("registry.example/x:1", "eu-west-1", False),
    ],
)
def test_ecr_image_must_be_in_the_region_of_the_job(image, region, is_told):
    request = changed(AlgorithmSpecification={"TrainingImage": image, "TrainingInputMode": "File"})
    assert found(request, region) == ([("SM371", ("AlgorithmSpecification", "TrainingImage"))] if is_told else [])


def test_request_without_role_and_region_is_accepted():
    request = small_request()
    del request["RoleArn"]
    assert found(request | {"OutputDataConfig": {"S3OutputPath": "s3://x/", "KmsKeyId": kms("cn-north-1")}}) == []


def running(image, **members):
    return changed(AlgorithmSpecification={"TrainingImage": image, "TrainingInputMode": "File"}, **members)


REGIONS = [(each.name, region, each.dns_suffix) for each in partitions() for region in each.regions]


@pytest.mark.parametrize(("partition", "region", "suffix"), REGIONS, ids=[region for _, region, _ in REGIONS])
def test_everything_in_one_partition_is_accepted(partition, region, suffix):
    """The role, the registry, keys, and access points of a partition belong together, and to no other."""
    key = {"S3OutputPath": "s3://example/x/", "KmsKeyId": kms(region, partition)}
    point = f"s3://arn:{partition}:s3:{region}:111122223333:accesspoint/example/x/"
    request = running(
        f"111122223333.dkr.ecr.{region}.{suffix}/small:1",
        RoleArn=role(partition),
        OutputDataConfig=key,
        CheckpointConfig={"S3Uri": point},
    )
    assert found(request, region) == found(request) == []
    other = next(each for each in partitions() if each.name != partition)
    assert found(request | {"RoleArn": role(other.name)}, region) == [("SM478", ("RoleArn",))]
    assert found(request | {"RoleArn": role(other.name)}) == [("SM478", ("RoleArn",))]
    elsewhere = next(each for each in partitions() if each.dns_suffix != suffix)
    strange = f"111122223333.dkr.ecr.{region}.{elsewhere.dns_suffix}/small:1"
    assert ("SM801", IMAGE) in found(running(strange, RoleArn=role(partition)), region)


@pytest.mark.parametrize("path", [("CheckpointConfig", "S3Uri"), ("OutputDataConfig", "S3OutputPath")], ids=".".join)
def test_access_points_of_another_partition_are_reported(path):
    point = "s3://arn:aws-cn:s3:cn-north-1:111122223333:accesspoint/example/x/"
    assert found(changed(**{path[0]: {path[1]: point}}), HERE) == [("SM478", path)]


def test_region_that_is_newer_than_the_table_has_its_partition():
    assert not is_listed("us-west-9") and not is_listed("cn-south-1")
    assert found(running("111122223333.dkr.ecr.us-west-9.amazonaws.com/small:1"), "us-west-9") == []
    assert found(running("111122223333.dkr.ecr.cn-south-1.amazonaws.com/small:1", RoleArn=role("aws-cn"))) == [
        ("SM801", IMAGE)
    ]


@pytest.mark.parametrize("region", ["us-west-22", "us-wset-2", "us-west-02", "us-west-2-2"])
def test_misspelled_region_has_a_neighbor(region):
    assert not is_listed(region) and nearest_region(region) == "us-west-2"


@with_the_pinned_model
def test_table_is_that_of_botocore():
    """Every region of botocore is in the table, in its partition; `make facts` refreshes it."""
    directory = pytest.importorskip("botocore").__path__[0]
    for row in partition_rows(directory):
        for region in row["regions"].split(" "):
            found = partition_of(region)
            assert found is not None and found.name == row["partition"]
            assert found.suffixes == (row["dns_suffix"], row["dual_stack_suffix"])
