"""A job with the name of a request is that of the request only if SageMaker describes it so."""

import copy
import json

import pytest

from smspec.submission.ownership import differences
from support.servers.job_server import as_described
from support.small_job import BUILT, READY, write_job
from support.smspec_command import smspec

KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
WHOLE = (
    READY.replace(
        "output: s3://models/small/", f"output: {{s3: s3://models/small/, kms_key: {KEY}, compression: NONE}}"
    )
    + "region: us-west-2\n"
    "source: src/\n"
    "entry_point: train.py\n"
    "input_mode: FastFile\n"
    "channels:\n"
    "  train: {s3: s3://bucket/a/, distribution: ShardedByS3Key, shuffle_seed: 3}\n"
    "  eval: {file_system: {id: fs-0123456789abcdef0, type: FSxLustre, path: /fsx/a, access: ro}, input_mode: File}\n"
    "hyperparameters: {lr: 1e-3, note: None, empty: ''}\n"
    "environment: {MODE: fast, EMPTY: ''}\n"
    "stopping: {max_runtime: 2h}\n"
    "spot: {max_wait: 4h}\n"
    "retries: 2\n"
    "checkpoints: s3://bucket/ckpt/\n"
    "tensorboard: s3://bucket/tb/\n"
    "network: {subnets: [subnet-0bb, subnet-0aa], security_groups: [sg-0bb], isolation: false}\n"
    "metrics: [{name: 'train:loss', regex: 'loss=([0-9.]+)'}]\n"
    "tags: {team: ads}\n"
)


@pytest.fixture(params=[WHOLE, BUILT + "region: us-west-2\n" * ("region:" not in BUILT)], ids=["whole", "built"])
def request_sent(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_job(tmp_path, request.param)
    done = smspec("render", "--api-json")
    assert done.status == 0, done.err
    return json.loads(done.out)


@pytest.fixture
def whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_job(tmp_path, WHOLE)
    done = smspec("render", "--api-json")
    assert done.status == 0, done.err
    return json.loads(done.out)


def test_own_job_with_the_defaults_of_sagemaker_is_own(request_sent):
    assert [*differences(request_sent, as_described(request_sent))] == []
    assert [*differences(request_sent, request_sent)] == []


def leaves(value, path=()):
    """Yield the path of each value of a request, with the containers above it."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in items:
        yield from leaves(each, (*path, step))


def test_other_values_and_missing_members_are_differences(whole):
    """Each value of a request, changed or removed: only a default that a description lacks goes unseen."""
    unseen = set()
    for path in leaves(whole):
        if path[0] in ("TrainingJobName", "Tags"):
            continue
        for change in ("changed", "removed"):
            described = copy.deepcopy(as_described(whole))
            *above, last = path
            place = described
            for step in above:
                place = place[step]
            if isinstance(place[last], (dict, list)) and change == "changed":
                continue
            if change == "removed":
                del place[last]
            else:
                value = place[last]
                place[last] = (
                    not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else f"{value}x"
                )
            if not [*differences(whole, described)]:
                unseen.add((change, ".".join(map(str, path))))
    assert {(change, path.rpartition(".")[2]) for change, path in unseen} <= {
        ("removed", "EnableNetworkIsolation"),
        ("removed", "FileSystemAccessMode"),
        ("removed", "S3DataDistributionType"),
    }


FOREIGN = [
    pytest.param({"RoleArn": "arn:aws:iam::111122223333:role/Admin"}, "RoleArn", id="role"),
    pytest.param({"HyperParameters": {"lr": "9"}}, "HyperParameters", id="hyperparameter"),
    pytest.param({"Environment": {"LD_PRELOAD": "/x.so"}}, "Environment", id="environment"),
    pytest.param({"EnableNetworkIsolation": True}, "EnableNetworkIsolation", id="isolation"),
    pytest.param({"VpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}}, "VpcConfig", id="network"),
    pytest.param({"CheckpointConfig": {"S3Uri": "s3://theirs/"}}, "CheckpointConfig", id="checkpoints"),
    pytest.param({"DebugHookConfig": {"S3OutputPath": "s3://theirs/"}}, "DebugHookConfig", id="debug-hook"),
    pytest.param(
        {"InputDataConfig": [{"ChannelName": "x", "DataSource": {"S3DataSource": {"S3Uri": "s3://theirs/"}}}]},
        "InputDataConfig",
        id="channel",
    ),
]


@pytest.mark.parametrize(("members", "path"), FOREIGN)
def test_member_that_the_request_does_not_set_is_a_difference(members, path):
    request = {"RoleArn": "arn:aws:iam::111122223333:role/Mine", "TrainingJobName": "x"}
    assert [each for each in differences(request, {**request, **members}) if each.startswith(path)]


def image(uri, **members):
    return {"AlgorithmSpecification": {"TrainingImage": uri, "TrainingInputMode": "File", **members}}


def channel(uri, **members):
    return {"InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": {"S3Uri": uri}}, **members}]}


AWS_IMAGE = "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:1.7-1"
JOB = {"TrainingJobArn": "arn:aws:sagemaker:us-west-2:111122223333:training-job/x"}
KMS = "arn:aws:kms:us-west-2:111122223333"
METRIC = {"Name": "a", "Regex": "b"}
URI = "111122223333.dkr.ecr.us-west-2.amazonaws.com/ctr:1"


@pytest.mark.parametrize(
    ("sent", "there", "is_own"),
    [
        pytest.param(image(URI), image(f"{URI}@sha256:{'a' * 64}"), False, id="tag-with-a-digest"),
        pytest.param(image(f"{URI}@sha256:{'a' * 64}"), image(URI), False, id="digest-that-is-absent"),
        pytest.param(image(URI), image(f"{URI}0"), False, id="tag-that-begins-alike"),
        pytest.param(image(URI), image(URI, ContainerEntrypoint=["sh"]), False, id="entrypoint"),
        pytest.param(image(AWS_IMAGE), image(AWS_IMAGE, MetricDefinitions=[METRIC]), True, id="metrics-of-aws"),
        pytest.param(image(URI), image(URI, MetricDefinitions=[]), True, id="no-metrics"),
        pytest.param(
            {"AlgorithmSpecification": {"AlgorithmName": "mine", "TrainingInputMode": "File"}},
            {
                "AlgorithmSpecification": {
                    "AlgorithmName": "arn:aws:sagemaker:us-west-2:111122223333:algorithm/mine",
                    "TrainingInputMode": "File",
                },
                "HyperParameters": {"k": "10"},
                **JOB,
            },
            True,
            id="algorithm-with-its-defaults",
        ),
        pytest.param(
            {"OutputDataConfig": {"S3OutputPath": "s3://b/o", "KmsKeyId": "1234abcd"}},
            {"OutputDataConfig": {"S3OutputPath": "s3://b/o/", "KmsKeyId": f"{KMS}:key/1234abcd"}, **JOB},
            True,
            id="key-as-an-arn",
        ),
        *(
            pytest.param(
                {"ResourceConfig": {"VolumeKmsKeyId": sent}},
                {"ResourceConfig": {"VolumeKmsKeyId": there}, **JOB},
                is_own,
                id=name,
            )
            for name, sent, there, is_own in (
                ("key-as-an-id", f"{KMS}:key/1234abcd", "1234abcd", True),
                ("key-of-another-account", "1234abcd", f"{KMS.replace('1111', '2222')}:key/1234abcd", False),
                ("key-of-another-region", "1234abcd", f"{KMS.replace('us-west-2', 'eu-west-1')}:key/1234abcd", False),
                ("key-that-ends-alike", "1234abcd", f"{KMS}:key/a/1234abcd", False),
                ("alias-as-an-arn", "alias/ml", f"{KMS}:alias/ml", True),
                ("alias-of-another-account", "alias/ml", f"{KMS.replace('1111', '2222')}:alias/ml", False),
                ("alias-and-a-key", "alias/ml", f"{KMS}:key/1234abcd", False),
                ("key-named-like-an-alias", "alias/ml", f"{KMS}:key/alias/ml", False),
            )
        ),
        pytest.param(
            {"AlgorithmSpecification": {"AlgorithmName": "mine"}},
            {
                "AlgorithmSpecification": {"AlgorithmName": "arn:aws:sagemaker:us-west-2:210987654321:algorithm/mine"},
                **JOB,
            },
            False,
            id="algorithm-that-another-account-named-alike",
        ),
        pytest.param({}, {"StoppingCondition": {"MaxRuntimeInSeconds": 86400}}, True, id="default-runtime"),
        pytest.param({}, {"StoppingCondition": {"MaxRuntimeInSeconds": 2419200}}, False, id="runtime-of-28-days"),
        pytest.param(
            {**image(URI), **channel("s3://b/a/")},
            {**image(URI), **channel("s3://b/a/", InputMode="File")},
            True,
            id="default-input-mode",
        ),
        pytest.param(
            {**image(URI), **channel("s3://b/a/")},
            {**image(URI), **channel("s3://b/a/", InputMode="Pipe")},
            False,
            id="input-mode-of-a-forger",
        ),
        pytest.param(
            {"OutputDataConfig": {"S3OutputPath": "s3://b/o"}},
            {"OutputDataConfig": {"S3OutputPath": "s3://b/o2"}},
            False,
            id="output",
        ),
        pytest.param(
            {"CheckpointConfig": {"S3Uri": "s3://b/c"}}, {"CheckpointConfig": {"S3Uri": "s3://b/c/"}}, True, id="folder"
        ),
        pytest.param(channel("s3://b/train/"), channel("s3://b/train"), False, id="channel-that-reads-more"),
        pytest.param(channel("s3://b/train"), channel("s3://b/train/"), False, id="channel-that-reads-less"),
        pytest.param(
            {"AlgorithmSpecification": {"AlgorithmName": "arn:aws:sagemaker:us-west-2:111122223333:algorithm/mine"}},
            {"AlgorithmSpecification": {"AlgorithmName": "arn:aws:sagemaker:us-west-2:210987654321:algorithm/mine"}},
            False,
            id="algorithm-of-another-account",
        ),
        pytest.param(
            {"VpcConfig": {"Subnets": ["a", "b"], "SecurityGroupIds": ["s"]}},
            {"VpcConfig": {"Subnets": ["b", "a"], "SecurityGroupIds": ["s"]}},
            True,
            id="subnets-in-another-order",
        ),
        pytest.param(
            {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1}},
            {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "KeepAlivePeriodInSeconds": 9}},
            True,
            id="warm-pool-changed-since",
        ),
    ],
)
def test_forms_of_one_value(sent, there, is_own):
    assert (not [*differences(sent, there)]) is is_own
