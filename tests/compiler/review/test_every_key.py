"""Whatever key of a spec changes, the change is of a kind that says so; only what DESIGN.md names is cosmetic."""

import copy

import pytest

from smspec.review.kinds import KINDS
from smspec.spec.schema.keys import spec_keys
from support.review.job_reviews import kinds, version
from support.spec import job_samples, keys_of_the_spec

ROLE = "arn:aws:iam::111122223333:role/Other"
PLAIN = job_samples.spec()
LOOP = {
    "pipe_loop": "reader:Trainer",
    "epochs": 5,
    "read": {"train": "lines"},
    "prefetch": "32MB",
    "open_timeout": "1m",
}
PIPE = {**PLAIN, "input_mode": "Pipe", "entry_point": LOOP}
READY = {**PLAIN, "image": job_samples.IMAGE_URI, "entry_point": {"command": ["train"]}, "source": None}
FILES = {"file_system": {"id": "fs-0123456789abcdef0", "type": "EFS", "path": "/a", "access": "ro"}}
GROUPS = {"groups": [{"name": "a", "instance_type": "ml.m5.large", "count": 1}]}
S3_SOURCE = {**PLAIN, "source": {"dir": "src/", "delivery": "channel"}}

# Key → the spec that has it (or not yet), its path in there, another value, and a kind that the change is of.
CHANGES = {
    "name": (PLAIN, "other", "restart"),
    "description": (PLAIN, "another", "cosmetic"),
    "role": (PLAIN, ROLE, "security"),
    "region": (PLAIN, "eu-west-1", "hosts"),
    "account": (PLAIN, "444455556666", "security"),
    "image": (READY, "111122223333.dkr.ecr.us-west-2.amazonaws.com/ready:2", "image"),
    "image.base": (PLAIN, "python:3.13-slim-bookworm", "image"),
    "image.platform": (PLAIN, "linux/arm64", "image"),
    "image.system_packages": (PLAIN, ["git"], "image"),
    "image.python_packages": (PLAIN, ["numpy==2.1.0"], "image"),
    "image.python_requirements": (PLAIN, "requirements.txt", "image"),
    "image.env": (PLAIN, {"A": "1"}, "image"),
    "image.env.*": (PLAIN, "1", "image"),
    "image.run": (PLAIN, ["true"], "image"),
    "image.repository": (PLAIN, "elsewhere/job", "image"),
    "image.labels": (PLAIN, {"a": "1"}, "image"),
    "image.labels.*": (PLAIN, "1", "image"),
    "source": (PLAIN, {"dir": "src/", "delivery": "s3"}, "code"),
    "source.dir": (PLAIN, "other/", "cosmetic"),  # the same files
    "source.delivery": (PLAIN, "channel", "code"),
    "source.s3": (S3_SOURCE, "s3://elsewhere/source/", "code"),
    "source.ignore": (PLAIN, ["*.txt"], "cosmetic"),  # there is no such file
    "entry_point": (PLAIN, {"command": ["python3", "train.py"]}, "image"),
    "entry_point.script": (PLAIN, "other.py", "image"),
    "entry_point.args": (PLAIN, ["--fast"], "image"),
    "entry_point.args_style": (PLAIN, "json", "image"),
    "entry_point.command": (READY, ["train", "--fast"], "security"),
    "entry_point.module": ({**PLAIN, "entry_point": {"module": "a:b"}}, "a:c", "image"),
    "entry_point.pipe_loop": (PIPE, "reader:Other", "image"),
    "entry_point.epochs": (PIPE, 6, "data"),
    "entry_point.read": (PIPE, {"train": "csv"}, "data"),
    "entry_point.read.train": (PIPE, "csv", "data"),
    "entry_point.prefetch": (PIPE, "64MB", "data"),
    "entry_point.open_timeout": (PIPE, "2m", "data"),
    "input_mode": (PLAIN, "FastFile", "data"),
    "channels": (PLAIN, {"train": {"s3": "s3://example-data/other/"}}, "data"),
    "channels.more": (PLAIN, {"s3": "s3://example-data/other/"}, "data"),
    "channels.train.s3": (PLAIN, "s3://example-data/other/", "data"),
    "channels.train.file_system": ({**PLAIN, "channels": {"train": {}}}, FILES["file_system"], "data"),
    **{
        f"channels.train.file_system.{key}": ({**PLAIN, "channels": {"train": FILES}}, value, kind)
        for key, value, kind in (
            ("id", "fs-1123456789abcdef0", "data"),
            ("type", "FSxLustre", "data"),
            ("path", "/b", "data"),
            ("access", "rw", "security"),
        )
    },
    "channels.train.s3_data_type": (PLAIN, "ManifestFile", "data"),
    "channels.train.attributes": (PLAIN, ["a"], "data"),
    "channels.train.distribution": (PLAIN, "ShardedByS3Key", "data"),
    "channels.train.instance_groups": (PLAIN, ["a"], "data"),
    "channels.train.input_mode": (PLAIN, "Pipe", "data"),
    "channels.train.content_type": (PLAIN, "text/csv", "data"),
    "channels.train.compression": (PLAIN, "Gzip", "data"),
    "channels.train.record_wrapper": (PLAIN, "RecordIO", "data"),
    "channels.train.shuffle_seed": (PLAIN, 17, "data"),
    "channels.train.local": (PLAIN, "data/", "cosmetic"),
    "channels.train.api": (PLAIN, {"ContentType": "a/b"}, "data"),
    "hosts": (PLAIN, GROUPS, "hosts"),
    "hosts.instance_type": (PLAIN, "ml.m5.large", "hosts"),
    "hosts.count": (PLAIN, 3, "cost"),
    "hosts.volume": (PLAIN, "60GB", "hosts"),
    "hosts.volume_kms_key": (PLAIN, "key", "security"),
    "hosts.keep_alive": (PLAIN, "30m", "cost"),
    "hosts.training_plan": (PLAIN, "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p", "hosts"),
    "hosts.groups": ({**PLAIN, "hosts": {}}, GROUPS["groups"], "hosts"),
    **{
        f"hosts.groups.0.{key}": ({**PLAIN, "hosts": GROUPS}, value, "hosts")
        for key, value in (("name", "b"), ("instance_type", "ml.m5.xlarge"), ("count", 2))
    },
    "distribution": (PLAIN, {"torchrun": {}}, "image"),
    "distribution.torchrun": ({**PLAIN, "distribution": {"torchrun": {}}}, {"port": 7}, "hosts"),
    "distribution.torchrun.processes_per_host": ({**PLAIN, "distribution": {"torchrun": {}}}, 4, "hosts"),
    "distribution.torchrun.port": ({**PLAIN, "distribution": {"torchrun": {}}}, 7, "hosts"),
    "distribution.mpi": (PLAIN, {}, "image"),
    "distribution.mpi.processes_per_host": ({**PLAIN, "distribution": {"mpi": {}}}, 4, "hosts"),
    "distribution.mpi.options": ({**PLAIN, "distribution": {"mpi": {}}}, ["-x", "A=1"], "hosts"),
    "distribution.parameter_server": (PLAIN, {"framework": "mxnet"}, "image"),
    "distribution.parameter_server.framework": (
        {**PLAIN, "distribution": {"parameter_server": {"framework": "mxnet"}}},
        "tensorflow",
        "hosts",
    ),
    "distribution.smdataparallel": (PLAIN, {}, "image"),
    "hyperparameters": (PLAIN, {"lr": 1}, "hyperparameters"),
    "hyperparameters.lr": (PLAIN, 1, "hyperparameters"),
    "hyperparameter_encoding": ({**PLAIN, "hyperparameters": {"a": "b"}}, "json_strings", "hyperparameters"),
    "environment": (PLAIN, {"A": "1"}, "environment"),
    "environment.A": (PLAIN, "1", "environment"),
    "stopping": (PLAIN, {}, "cost"),
    "stopping.max_runtime": (PLAIN, "6h", "cost"),
    "stopping.max_pending": (PLAIN, "2h", "hosts"),
    "spot": (PLAIN, {"max_wait": "30h"}, "cost"),
    "spot.max_wait": ({**PLAIN, "spot": {"max_wait": "30h"}}, "31h", "cost"),
    "retries": (PLAIN, 2, "cost"),
    "output": (PLAIN, {"s3": "s3://elsewhere/"}, "output"),
    "output.s3": (PLAIN, "s3://elsewhere/", "output"),
    "output.kms_key": (PLAIN, "key", "security"),
    "output.compression": (PLAIN, "NONE", "output"),
    "checkpoints": (PLAIN, {"s3": "s3://example-models/c/"}, "restart"),
    "checkpoints.s3": ({**PLAIN, "checkpoints": {"s3": "s3://example-models/c/"}}, "s3://example-models/d/", "restart"),
    "checkpoints.local": ({**PLAIN, "checkpoints": {"s3": "s3://example-models/c/"}}, "/opt/ml/mine", "restart"),
    "tensorboard": (PLAIN, "s3://example-models/t/", "output"),
    "network": (PLAIN, {"isolation": True}, "security"),
    "network.subnets": (PLAIN, ["subnet-1"], "security"),
    "network.security_groups": (PLAIN, ["sg-1"], "security"),
    "network.isolation": (PLAIN, True, "security"),
    "network.encrypt_inter_container": (PLAIN, True, "security"),
    "metrics": (PLAIN, [{"name": "loss", "regex": "(.*)"}], "other"),
    "metrics.0.name": ({**PLAIN, "metrics": [{"name": "loss", "regex": "(.*)"}]}, "cost", "other"),
    "metrics.0.regex": ({**PLAIN, "metrics": [{"name": "loss", "regex": "(.*)"}]}, "(.+)", "other"),
    "tags": (PLAIN, {"team": "ads"}, "other"),
    "tags.team": (PLAIN, "ads", "other"),
    "job_name": (PLAIN, "exact-name", "restart"),
    "api": (PLAIN, {"RemoteDebugConfig": {"EnableRemoteDebug": True}}, "security"),
    "checks": (PLAIN, {"ignore": [{"rule": "SM302", "because": "so"}]}, "cosmetic"),
    "vars": (PLAIN, {"size": {"default": 1}}, "cosmetic"),
    "overlays": (PLAIN, {"dev": {"retries": 2}}, "cosmetic"),
}
NEVER_IN_A_MERGED_SPEC = {"smspec", "extends"}
COSMETIC = {"description", "checks", "vars", "overlays", "channels.train.local", "source.dir", "source.ignore"}


def changed(spec, key, value):
    """Return a spec with another value at a path; what is missing on the way is made."""
    spec = copy.deepcopy({name: there for name, there in spec.items() if there is not None})
    *parents, last = key.split(".")
    holder = spec
    for step in parents:
        holder = holder[int(step)] if step.isdigit() else holder.setdefault(step, {})
    if parents[-1:] == ["distribution"]:
        holder.clear()
    if key == "channels.train.file_system":
        holder.pop("s3", None)
    holder[last] = value
    return spec


@pytest.mark.parametrize("key", CHANGES)
def test_a_change_of_a_key_is_of_its_kind(key):
    spec, value, kind = CHANGES[key]
    old = version({name: there for name, there in spec.items() if there is not None})
    new = version(changed(spec, key, value), requirements=b"numpy\n" if "requirements" in key else None)
    found = kinds(old, new)
    assert kind in found
    assert (found == {"cosmetic"}) == (key in COSMETIC)
    assert not kinds(new, new)


def general(key):
    """Return a path with `*` for names and numbers, as the schema has it."""
    names = {"train", "more", "lr", "A", "team", "0"}
    steps = key.split(".")
    return tuple("*" if step in names and at else step for at, step in enumerate(steps))


def test_no_key_of_the_schema_is_left_out():
    covered = {general(key) for key in CHANGES}
    missing = {
        ".".join(path)
        for path in spec_keys()
        if path not in covered
        and path[0] not in NEVER_IN_A_MERGED_SPEC
        and not (path[0] in ("vars", "overlays", "checks") and len(path) > 1)
        and path[-1] != "*"
    }
    assert missing == set()


@pytest.mark.parametrize(("keys", "_payload"), keys_of_the_spec.KEYS)
def test_a_key_that_reaches_the_request_is_not_cosmetic(keys, _payload):
    plain = job_samples.spec(channels=None)
    found = kinds(version(plain), version({**plain, **keys}))
    assert found - {"cosmetic"}
    assert found <= set(KINDS)
