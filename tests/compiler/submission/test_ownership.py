"""A job with the name of a request is that of the request only if SageMaker describes it so."""

import copy
import json

import botocore.session
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.service.shapes import pinned_model
from smspec.submission.client import JobRefused
from smspec.submission.job_service import JobService
from smspec.submission.ownership import CHANGED_LATER, differences, require_own
from support.servers.job_server import as_described, job_server, look
from support.service.api_samples import small_request
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


MODEL = pinned_model()
LEAVES = [
    path
    for path, shape in MODEL.walk()
    if shape.kind not in ("structure", "list", "map") and path[0] not in ("TrainingJobName", "Tags")
]
FREE = {*CHANGED_LATER, "AlgorithmSpecification.EnableSageMakerMetricsTimeSeries"}
"""They may have any value; so may `ResourceConfig.VolumeSizeInGB`, if the request does not set it."""


def named(path):
    return ".".join(str(step) for step in path if step not in (0, "*"))


def requests(shape=MODEL.root, path=()):
    """Return a strategy of requests with any members of the API, but without those of a serverless job."""
    if shape.kind == "structure":
        members = {
            name: requests(MODEL.shapes[each], (*path, name))
            for name, each in shape.members.items()
            if name not in ("ServerlessJobConfig", "AlgorithmName", "Tags")
        }
        required = {name: each for name, each in members.items() if name in shape.required}
        return st.fixed_dictionaries(
            required, optional={name: each for name, each in members.items() if name not in required}
        )
    if shape.kind == "list":
        # Names of channels and groups are unique; one item each keeps them so.
        return st.lists(requests(MODEL.shapes[shape.item], path), min_size=1, max_size=1)
    if shape.kind == "map":
        return st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["", "1", "None"]), max_size=2)
    if shape.kind == "boolean":
        return st.booleans()
    if shape.kind in ("integer", "long"):
        return st.integers(1, 3)
    return st.sampled_from(shape.enum[:3] or ("x", "s3://b/x", "s3://b/x/"))


def with_changed(value, path, shape=MODEL.root):
    """Return a part of a description with another value at a path, which is added if it is absent."""
    if not path:
        if shape.kind == "boolean":
            return not value
        return 77 if shape.kind in ("integer", "long") else "foreign"
    step, *rest = path
    if step == 0:
        items = value or [None]
        return [with_changed(items[0], rest, MODEL.shapes[shape.item]), *items[1:]]
    if step == "*":
        return {**(value or {}), "a": "foreign"}
    return {**(value or {}), step: with_changed((value or {}).get(step), rest, MODEL.shapes[shape.members[step]])}


@settings(deadline=None, max_examples=150)
@given(requests(), st.data())
def test_any_changed_input_member_is_foreign(request_drawn, data):
    path = data.draw(st.sampled_from(LEAVES))
    foreign = with_changed(as_described(request_drawn), path)
    is_set = "VolumeSizeInGB" in request_drawn.get("ResourceConfig", {})
    free = {*FREE} if is_set else {*FREE, "ResourceConfig.VolumeSizeInGB"}
    if named(path) not in free:
        assert [*differences(request_drawn, foreign)]


@settings(deadline=None, max_examples=100)
@given(requests(), st.sampled_from(["New", "ModelArtifacts", "ProfilingStatus"]), st.integers(0, 3))
def test_own_job_with_new_output_members_is_own(request_drawn, name, value):
    described = as_described(request_drawn)
    described[name] = {"Any": value}
    described.setdefault("ResourceConfig", {}).setdefault("VolumeSizeInGB", value)
    for each in ("InputDataConfig", "OutputDataConfig", "DebugHookConfig"):
        if isinstance(described.get(each), dict):
            described[each] = {**described[each], "NewOutput": {"Any": value}}
    for rule in described.get("DebugRuleConfigurations", ()):
        rule.setdefault("VolumeSizeInGB", 0)
        rule.setdefault("LocalPath", "/opt/ml/processing/output/rule/")
    if "DebugHookConfig" in described:
        described["DebugHookConfig"].setdefault("LocalPath", "/opt/ml/output/tensors/")
    assert [*differences(request_drawn, described)] == []


def test_members_changed_later_are_those_of_update_training_job():
    """What may differ because it can be changed is in UpdateTrainingJob's input."""
    model = botocore.session.get_session().get_service_model("sagemaker")
    update = model.operation_model("UpdateTrainingJob").input_shape
    for path in CHANGED_LATER:
        shape = update
        for step in path.split("."):
            shape = shape.members[step]


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
        *(
            pytest.param(
                {"AlgorithmSpecification": {"AlgorithmName": "mine", "TrainingInputMode": "File"}},
                {
                    "AlgorithmSpecification": {
                        "AlgorithmName": "arn:aws:sagemaker:us-west-2:111122223333:algorithm/mine",
                        "TrainingInputMode": "File",
                        "MetricDefinitions": [METRIC],
                    },
                    **added,
                    **JOB,
                },
                not added,
                id=f"algorithm-{name}",
            )
            for name, added in (
                ("and-its-metrics", {}),
                ("and-hyperparameter", {"HyperParameters": {"k": "10"}}),  # DescribeAlgorithm knows if it is a default
                ("and-environment", {"Environment": {"LD_PRELOAD": "/x.so"}}),
                ("and-spot", {"EnableManagedSpotTraining": True}),
                ("and-checkpoints", {"CheckpointConfig": {"S3Uri": "s3://theirs/"}}),
            )
        ),
        pytest.param(image(URI), image(URI, MetricDefinitions=[METRIC]), False, id="metrics-in-an-own-image"),
        pytest.param(image(URI), image(URI, MetricDefinitions=[]), True, id="no-metrics"),
        pytest.param({"Serverless": 1}, {}, False, id="member-that-the-model-lacks"),
        pytest.param(channel("s3://b/a/"), channel("s3://b/a/", ShuffleConfig={"Seed": 0}), False, id="seed-of-0"),
        pytest.param(
            {"OutputDataConfig": {"S3OutputPath": "s3://b/o/"}},
            {"OutputDataConfig": {"S3OutputPath": "s3://b/o//"}},
            False,
            id="folder-without-a-name",
        ),
        *(
            pytest.param(
                {"ServerlessJobConfig": {"JobType": "FineTuning"}},
                {"ServerlessJobConfig": {"JobType": "FineTuning"}, **added},
                is_own,
                id=f"serverless-{name}",
            )
            for name, added, is_own in (
                ("recipe", {"HyperParameters": {"lr": "1"}, "StoppingCondition": {"MaxRuntimeInSeconds": 9}}, True),
                ("network", {"VpcConfig": {"Subnets": ["s"], "SecurityGroupIds": ["g"]}}, False),
                ("environment", {"Environment": {"A": "b"}}, False),
                ("hosts", {"ResourceConfig": {"InstanceType": "ml.p5.48xlarge", "InstanceCount": 2}}, True),
                ("volume", {"ResourceConfig": {"VolumeSizeInGB": 30}}, True),
                ("key", {"ResourceConfig": {"InstanceCount": 2, "VolumeKmsKeyId": KEY}}, False),
                ("output-key", {"OutputDataConfig": {"KmsKeyId": KEY}}, False),
                ("plan", {"ResourceConfig": {"InstanceCount": 2, "TrainingPlanArn": "arn:foreign"}}, False),
                ("plans", {"ResourceConfig": {"InstancePreferences": [{"TrainingPlanArns": ["arn:f"]}]}}, False),
            )
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


@pytest.fixture
def jobs(monkeypatch):
    with job_server() as running:
        for name, value in running.environ.items():
            monkeypatch.setenv(name, value)
        yield running


@pytest.mark.parametrize(("default", "is_own"), [("10", True), ("11", False)], ids=["default", "other-value"])
def test_default_hyperparameter_of_an_algorithm_is_own(jobs, default, is_own):
    sent = small_request() | {"AlgorithmSpecification": {"AlgorithmName": "mine", "TrainingInputMode": "File"}}
    jobs.algorithm_defaults = {"k": default}
    added = {"HyperParameters": {**sent.get("HyperParameters", {}), "k": "10"}}
    jobs.put(sent, look("InProgress", members=added))
    service = JobService(None, None)
    job = service.describe(sent["TrainingJobName"])
    if is_own:
        require_own(service, job, sent, "d", name_is_derived=True)
    else:
        with pytest.raises(JobRefused, match=r"`HyperParameters\.k` differs"):
            require_own(service, job, sent, "d", name_is_derived=True)
