"""Job specs as text and as data."""

from __future__ import annotations

import copy
import json

from smspec.source import Document, Mapping, Scalar, Sequence, SourceText, Span
from smspec.spec.layers import merged
from smspec.spec.shape import shape_findings
from smspec.spec.yaml import read
from support.small_job import READY

WHOLE_JOB = {
    "smspec": "v1",
    "name": "ctr-linear",
    "description": "streams 1.2 TB of RecordIO once per epoch",
    "role": "arn:aws:iam::111122223333:role/SageMakerTraining",
    "region": "us-west-2",
    "account": "111122223333",
    "image": {
        "base": "python:3.12-slim-bookworm",
        "platform": "linux/amd64",
        "system_packages": ["libgomp1"],
        "python_packages": ["numpy==2.1.0"],
        "python_requirements": "requirements.txt",
        "env": {"OMP_NUM_THREADS": "4"},
        "run": ["true"],
        "repository": "ads/ctr-linear",
        "labels": {"team": "ads"},
    },
    "source": {
        "dir": "src/",
        "delivery": "s3",
        "s3": "s3://ads/source/",
        "kms_key": "alias/source",
        "ignore": ["tests/"],
    },
    "entry_point": {
        "pipe_loop": "ctr.reader:Trainer",
        "epochs": 5,
        "read": {"train": "recordio"},
        "prefetch": "32MB",
        "open_timeout": "10m",
    },
    "input_mode": "Pipe",
    "channels": {
        "train": {
            "s3": "s3://ads-data/ctr/train/",
            "s3_data_type": "AugmentedManifestFile",
            "attributes": ["source-ref", "class"],
            "distribution": "ShardedByS3Key",
            "instance_groups": ["workers"],
            "input_mode": "Pipe",
            "content_type": "text/csv",
            "compression": "Gzip",
            "record_wrapper": "RecordIO",
            "shuffle_seed": 17,
            "local": "data/train/",
            "api": {"ContentType": "x"},
        },
        "shared": {"file_system": {"id": "fs-0123456789abcdef0", "type": "EFS", "path": "/ctr", "access": "ro"}},
    },
    "hosts": {
        "instance_type": "ml.c5.9xlarge",
        "count": 4,
        "volume": "50GB",
        "volume_kms_key": "alias/volumes",
        "keep_alive": "30m",
        "training_plan": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/large-models",
        "groups": [{"name": "workers", "instance_type": "ml.c5.9xlarge", "count": 2}],
    },
    "distribution": {"mpi": {"processes_per_host": 8, "options": ["-x", "NCCL_DEBUG=INFO"]}},
    "hyperparameters": {"epochs": 5, "lr": 0.001, "layers": [256, 64], "bf16": True},
    "hyperparameter_encoding": "json_strings",
    "environment": {"NCCL_DEBUG": "WARN"},
    "stopping": {"max_runtime": "6h", "max_pending": 7200},
    "spot": {"max_wait": "8h"},
    "retries": 2,
    "output": {"s3": "s3://ads-models/ctr/", "kms_key": "alias/models", "compression": "NONE"},
    "checkpoints": {"s3": "s3://ads-models/ctr/ckpt/", "local": "/opt/ml/checkpoints"},
    "tensorboard": "s3://ads-models/ctr/tb/",
    "network": {
        "subnets": ["subnet-0aa"],
        "security_groups": ["sg-0bb"],
        "isolation": False,
        "encrypt_inter_container": True,
    },
    "metrics": [{"name": "train:loss", "regex": "loss=([0-9.eE+-]+)"}],
    "tags": {"team": "ads", "cost-center": "0042"},
    "job_name": "ctr-linear-2026-01",
    "api": {"RemoteDebugConfig": {"EnableRemoteDebug": True}},
    "checks": {"ignore": [{"rule": "SM302", "at": "channels.train", "because": "one object per host"}]},
}
"""A job in its long form that has every key but those of the other kinds of entry points and launchers."""

BUILT_JOB = """\
smspec: v1
name: built
role: arn:aws:iam::111122223333:role/SageMakerTraining
image: {base: python:3.12-slim}
source: src/
entry_point: train.py
hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}
output: s3://models/built/
"""
"""The shortest job whose image is built."""

_SPAN = Span("job.yaml", 1, 1, 1, 2)


def whole_job():
    """Return a copy of the whole job that a test may change."""
    return copy.deepcopy(WHOLE_JOB)


def merged_text(text):
    """Return the document that ``text``, as the only file, is merged to."""
    return merged([read(SourceText("job.yaml", text))])


def with_key(line, job=READY):
    """Return the job with one more line, in place of the line that has the same key."""
    key = line.split(":")[0]
    return "".join(f"{old}\n" for old in job.splitlines() if not old.startswith(f"{key}:")) + f"{line}\n"


def reported(text):
    """Return (code, path, message, label) of every finding about the shape of a job."""
    return [(f.code, f.path, f.message, f.label) for f in shape_findings(merged_text(text))]


def document_of(data):
    """Return a document with the content of ``data``."""
    return Document(_node(data), (SourceText("job.yaml", "x\n"),))


def _node(data):
    if isinstance(data, dict):
        return Mapping(tuple((Scalar(key, key, True, _SPAN), _node(value)) for key, value in data.items()), _SPAN)
    if isinstance(data, list):
        return Sequence(tuple(_node(item) for item in data), _SPAN)
    return Scalar(data if isinstance(data, str) else json.dumps(data), data, not isinstance(data, str), _SPAN)
