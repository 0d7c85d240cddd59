"""Every path of CreateTrainingJobRequest can be set by a key or through `api`."""

import pytest

from smspec.plan.request_planning import make_plan
from smspec.service.request_rules import request_findings
from smspec.service.shape_limits import SHAPE_RULES
from smspec.service.shapes import pinned_model
from smspec.source import dotted
from support.service import api_samples
from support.spec import job_samples

MODEL = pinned_model()
PATHS = [path for path, _ in MODEL.walk()]
SHAPE_CODES = {rule.code for rule in SHAPE_RULES}

BY_KEYS = """
smspec: v1
name: everything
role: arn:aws:iam::111122223333:role/SageMakerTraining
image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/ready:1
entry_point: {command: [train]}
input_mode: Pipe
channels:
  train:
    s3: s3://example-data/train.manifest
    s3_data_type: AugmentedManifestFile
    attributes: [source-ref]
    distribution: ShardedByS3Key
    instance_groups: [workers]
    input_mode: Pipe
    content_type: text/csv
    compression: Gzip
    record_wrapper: RecordIO
    shuffle_seed: 17
hosts:
  volume: 50GB
  volume_kms_key: 1234abcd-12ab-34cd-56ef-1234567890ab
  groups: [{name: workers, instance_type: ml.m5.large, count: 2}]
hyperparameters: {lr: 1e-3}
environment: {NCCL_DEBUG: WARN}
stopping: {max_runtime: 6h, max_pending: 2h}
spot: {max_wait: 8h}
retries: 2
output: {s3: s3://example-models/x/, kms_key: alias/models, compression: NONE}
checkpoints: {s3: s3://example-models/c/, local: /opt/ml/checkpoints}
tensorboard: s3://example-models/t/
network: {subnets: [subnet-1], security_groups: [sg-1], isolation: false, encrypt_inter_container: true}
metrics: [{name: loss, regex: loss=(.*)}]
tags: {team: ads}
"""
ONE_TYPE_OF_HOST = """
smspec: v1
name: everything
role: arn:aws:iam::111122223333:role/SageMakerTraining
image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/ready:1
channels:
  train: {file_system: {id: fs-0123456789abcdef0, type: EFS, path: /data, access: ro}}
hosts:
  instance_type: ml.p6e-gb200.36xlarge
  count: 1
  volume: 50GB
  keep_alive: 30m
  training_plan: arn:aws:sagemaker:us-west-2:111122223333:training-plan/plan
network: {subnets: [subnet-1], security_groups: [sg-1]}
output: s3://example-models/x/
"""


def payload(written):
    return make_plan(job_samples.decoded(written), job_samples.build_inputs()).request.payload


def general(path):
    """A path of a payload as the walk over the model writes it."""
    steps, shape = [], MODEL.root
    for step in path:
        steps.append("*" if shape.kind == "map" else 0 if shape.kind == "list" else step)
        shape = api_samples.inside(MODEL, shape, step)
    return tuple(steps)


def paths_of(value, path=()):
    if path:
        yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from paths_of(inner, (*path, key))


BY_KEY = {general(path) for spec in (BY_KEYS, ONE_TYPE_OF_HOST) for path in paths_of(payload(spec))}


def at(value, path):
    for step in path:
        value = value[step]
    return value


@pytest.mark.parametrize("path", [path for path in PATHS if path not in BY_KEY], ids=dotted)
def test_every_path_without_a_key_is_reached_through_api(path):
    patch = {}
    holder, key = api_samples.fill(patch, path)
    if path[0] == "InputDataConfig":
        channel = {"s3": "s3://example-data/x/", "api": patch["InputDataConfig"][0]}
        changes = {"channels": {patch["InputDataConfig"][0]["ChannelName"]: channel}}
    else:
        changes = {"api": patch}
    sent = payload(job_samples.spec(**changes))
    assert at(sent, api_samples.concrete(MODEL, path)) == holder[key]
    assert not [finding for finding in request_findings(sent) if finding.code in SHAPE_CODES]


def test_paths_without_a_key_are_listed():
    """Fails if a key no longer reaches its path, or if a new path is not listed."""
    assert set(PATHS) >= BY_KEY
    missing = {path for path in PATHS if path not in BY_KEY and (len(path) == 1 or path[:-1] in BY_KEY)}
    assert {dotted(path) for path in missing} == {
        "AlgorithmSpecification.AlgorithmName",
        "AlgorithmSpecification.ContainerArguments",
        "AlgorithmSpecification.EnableSageMakerMetricsTimeSeries",
        "AlgorithmSpecification.TrainingImageConfig",
        "DebugHookConfig",
        "DebugRuleConfigurations",
        "ExperimentConfig",
        "InfraCheckConfig",
        "InputDataConfig[0].DataSource.DatasetSource",
        "InputDataConfig[0].DataSource.S3DataSource.HubAccessConfig",
        "InputDataConfig[0].DataSource.S3DataSource.ModelAccessConfig",
        "MlflowConfig",
        "ModelPackageConfig",
        "ProfilerConfig",
        "ProfilerRuleConfigurations",
        "RemoteDebugConfig",
        "ResourceConfig.InstancePlacementConfig",
        "ResourceConfig.InstancePreferences",
        "ResourceConfig.SelectedInstanceCount",
        "ResourceConfig.SelectedInstanceType",
        "ServerlessJobConfig",
        "SessionChainingConfig",
        "TensorBoardOutputConfig.LocalPath",
    }


def test_request_from_keys_is_accepted():
    for spec in (BY_KEYS, ONE_TYPE_OF_HOST):
        assert request_findings(payload(spec)) == []
