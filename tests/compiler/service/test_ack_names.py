"""Names that ACK has for members: one for each, and each for one, over the whole API model."""

import pytest

from smspec.service.ack_names import ack_name, from_ack, to_ack
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
def test_names_are_those_of_the_published_crd(member, name):
    assert ack_name(member) == name


def test_no_two_members_of_a_structure_share_a_name():
    for shape in pinned_model().shapes.values():
        assert len({ack_name(member) for member in shape.members}) == len(shape.members), shape.name


def test_every_place_of_the_model_goes_there_and_back():
    for path, _ in pinned_model().walk():
        request = small_request()
        fill(request, path)
        assert from_ack(to_ack(request)) == (request, []), path


def test_keys_of_maps_are_the_authors():
    spec = to_ack({"HyperParameters": {"KmsKeyId": "1"}, "Environment": {"RoleArn": "x"}})
    assert spec == {"hyperParameters": {"KmsKeyId": "1"}, "environment": {"RoleArn": "x"}}


def test_what_the_model_does_not_know_is_named():
    spec = {"roleRef": {"from": {"name": "x"}}, "inputDataConfig": [{"channelName": "a", "Odd": 1}]}
    assert from_ack(spec) == (
        {"InputDataConfig": [{"ChannelName": "a"}]},
        [("roleRef",), ("inputDataConfig", 0, "Odd")],
    )


def test_unknown_member_keeps_its_name_on_the_way_to_ack():
    assert to_ack({"BrandNew": {"KmsKeyId": 1}}) == {"BrandNew": {"KmsKeyId": 1}}
