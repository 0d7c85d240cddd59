"""Names of members in ACK, one to one over the whole API model."""

import pytest

from smspec.render.ack import ack_name, from_ack, to_ack
from smspec.service.shapes import pinned_model
from support.service.api_samples import fill, small_request


@pytest.mark.parametrize(
    ("member", "name"),
    [
        ("TrainingJobName", "trainingJobName"),
        ("HyperParameters", "hyperParameters"),
        ("RoleArn", "roleARN"),
        ("S3Uri", "s3URI"),
        ("S3OutputPath", "s3OutputPath"),
        ("S3DataDistributionType", "s3DataDistributionType"),
        ("KmsKeyId", "kmsKeyID"),
        ("VolumeKmsKeyId", "volumeKMSKeyID"),
        ("VolumeSizeInGB", "volumeSizeInGB"),
        ("VpcConfig", "vpcConfig"),
        ("SecurityGroupIds", "securityGroupIDs"),
        ("FileSystemId", "fileSystemID"),
        ("TensorBoardOutputConfig", "tensorBoardOutputConfig"),
        ("EnableSageMakerMetricsTimeSeries", "enableSageMakerMetricsTimeSeries"),
    ],
)
def test_ack_names_equal_the_published_crd(member, name):
    assert ack_name(member) == name


def test_members_of_a_structure_have_distinct_ack_names():
    for shape in pinned_model().shapes.values():
        assert len({ack_name(member) for member in shape.members}) == len(shape.members), shape.name


def test_every_path_of_the_model_round_trips():
    for path, _ in pinned_model().walk():
        request = small_request()
        fill(request, path)
        assert from_ack(to_ack(request)) == (request, []), path


def test_keys_of_maps_are_not_renamed():
    spec = to_ack({"HyperParameters": {"KmsKeyId": "1"}, "Environment": {"RoleArn": "x"}})
    assert spec == {"hyperParameters": {"KmsKeyId": "1"}, "environment": {"RoleArn": "x"}}


def test_unknown_ack_members_are_listed():
    spec = {"roleRef": {"from": {"name": "x"}}, "inputDataConfig": [{"channelName": "a", "Odd": 1}]}
    assert from_ack(spec) == (
        {"InputDataConfig": [{"ChannelName": "a"}]},
        [("roleRef",), ("inputDataConfig", 0, "Odd")],
    )


def test_unknown_member_keeps_its_name_in_ack():
    assert to_ack({"BrandNew": {"KmsKeyId": 1}}) == {"BrandNew": {"KmsKeyId": 1}}
