"""For every key, a job and the same job with a different value."""

from __future__ import annotations

import copy

from smspec.spec.keys import ROW, ROWS
from smspec.spec.keys.row import KeyRow
from smspec.spec.schema import spec_keys
from support.spec import job_samples

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
QUEUED = {
    **PLAIN,
    "queue": {"name": "training", "priority": 10, "share": "ads", "attempts": 3, "timeout": "8h", "preemptions": 2},
}
GROUPS = {"groups": [{"name": "a", "instance_type": "ml.m5.large", "count": 1}]}
ANY_OF = {
    "any_of": [
        {"instance_type": "ml.m5.large", "count": 1, "volume": "50GB", "spot": {"max_wait": "30h"}},
        {"instance_type": "ml.m5.xlarge", "count": 1, "volume": "50GB"},
    ]
}
S3_SOURCE = {**PLAIN, "source": {"dir": "src/", "delivery": "channel"}}

# Key → the spec that has it (or not yet), and another value. A key that is not here gets the example of its schema.
_CHANGES = {
    "name": (PLAIN, "other"),
    "description": (PLAIN, "another"),
    "role": (PLAIN, ROLE),
    "region": (PLAIN, "eu-west-1"),
    "account": (PLAIN, "444455556666"),
    "image": (READY, "111122223333.dkr.ecr.us-west-2.amazonaws.com/ready:2"),
    "image.base": (PLAIN, "python:3.13-slim-bookworm"),
    "image.platform": (PLAIN, "linux/arm64"),
    "image.system_packages": (PLAIN, ["git"]),
    "image.python_packages": (PLAIN, ["numpy==2.1.0"]),
    "image.python_requirements": (PLAIN, "requirements.txt"),
    "image.env": (PLAIN, {"A": "1"}),
    "image.env.*": (PLAIN, "1"),
    "image.env_prepend": (PLAIN, {"A": "/a"}),
    "image.env_prepend.*": (PLAIN, "/a"),
    "image.build_args": (PLAIN, {"A": "1"}),
    "image.build_args.*": (PLAIN, "1"),
    "image.pre_install": (PLAIN, ["true"]),
    "image.user": (PLAIN, "1000"),
    "image.run": (PLAIN, ["true"]),
    "image.repository": (PLAIN, "elsewhere/job"),
    "image.labels": (PLAIN, {"a": "1"}),
    "image.labels.*": (PLAIN, "1"),
    "image.secrets": (PLAIN, {"PIP_EXTRA_INDEX_URL": {"env": "INDEX_URL"}}),
    "source": (PLAIN, {"dir": "src/", "delivery": "s3"}),
    "source.dir": (PLAIN, "other/"),  # the same files
    "source.delivery": (PLAIN, "channel"),
    "source.s3": (S3_SOURCE, "s3://elsewhere/source/"),
    "source.kms_key": (S3_SOURCE, "alias/source"),
    "source.ignore": (PLAIN, ["*.txt"]),  # there is no such file
    "entry_point": (PLAIN, {"command": ["python3", "train.py"]}),
    "entry_point.script": (PLAIN, "other.py"),
    "entry_point.args": (PLAIN, ["--fast"]),
    "entry_point.args_style": (PLAIN, "json"),
    "entry_point.command": (READY, ["train", "--fast"]),
    "entry_point.module": ({**PLAIN, "entry_point": {"module": "a:b"}}, "a:c"),
    "entry_point.pipe_loop": (PIPE, "reader:Other"),
    "entry_point.epochs": (PIPE, 6),
    "entry_point.read": (PIPE, {"train": "csv"}),
    "entry_point.read.train": (PIPE, "csv"),
    "entry_point.prefetch": (PIPE, "64MB"),
    "entry_point.open_timeout": (PIPE, "2m"),
    "input_mode": (PLAIN, "FastFile"),
    "channels": (PLAIN, {"train": {"s3": "s3://example-data/other/"}}),
    "channels.more": (PLAIN, {"s3": "s3://example-data/other/"}),
    "channels.train.s3": (PLAIN, "s3://example-data/other/"),
    "channels.train.file_system": ({**PLAIN, "channels": {"train": {}}}, FILES["file_system"]),
    **{
        f"channels.train.file_system.{key}": ({**PLAIN, "channels": {"train": FILES}}, value)
        for key, value in (
            ("id", "fs-1123456789abcdef0"),
            ("type", "FSxLustre"),
            ("path", "/b"),
            ("access", "rw"),
        )
    },
    "channels.train.s3_data_type": (PLAIN, "ManifestFile"),
    "channels.train.attributes": (PLAIN, ["a"]),
    "channels.train.distribution": (PLAIN, "ShardedByS3Key"),
    "channels.train.instance_groups": (PLAIN, ["a"]),
    "channels.train.input_mode": (PLAIN, "Pipe"),
    "channels.train.content_type": (PLAIN, "text/csv"),
    "channels.train.compression": (PLAIN, "Gzip"),
    "channels.train.record_wrapper": (PLAIN, "RecordIO"),
    "channels.train.shuffle_seed": (PLAIN, 17),
    "channels.train.local": (PLAIN, "data/"),
    "channels.train.size": (PLAIN, "120GB"),
    "channels.train.api": (PLAIN, {"ContentType": "a/b"}),
    "hosts": (PLAIN, GROUPS),
    "hosts.instance_type": (PLAIN, "ml.m5.large"),
    "hosts.count": (PLAIN, 3),
    "hosts.volume": (PLAIN, "60GB"),
    "hosts.volume_kms_key": (PLAIN, "key"),
    "hosts.keep_alive": (PLAIN, "30m"),
    "hosts.training_plan": (PLAIN, "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p"),
    "hosts.groups": ({**PLAIN, "hosts": {}}, GROUPS["groups"]),
    **{
        f"hosts.groups.0.{key}": ({**PLAIN, "hosts": GROUPS}, value)
        for key, value in (("name", "b"), ("instance_type", "ml.m5.xlarge"), ("count", 2))
    },
    "hosts.any_of": ({**PLAIN, "hosts": ANY_OF}, [*ANY_OF["any_of"], {"instance_type": "ml.m5.2xlarge", "count": 1}]),
    **{
        f"hosts.any_of.0.{key}": ({**PLAIN, "hosts": ANY_OF}, value)
        for key, value in (
            ("instance_type", "ml.m5.4xlarge"),
            ("count", 2),
            ("volume", "60GB"),
            ("spot", {"max_wait": "31h"}),
            ("spot.max_wait", "31h"),
        )
    },
    "distribution": (PLAIN, {"torchrun": {}}),
    "distribution.torchrun": ({**PLAIN, "distribution": {"torchrun": {}}}, {"port": 7}),
    "distribution.torchrun.processes_per_host": ({**PLAIN, "distribution": {"torchrun": {}}}, 4),
    "distribution.torchrun.port": ({**PLAIN, "distribution": {"torchrun": {}}}, 7),
    "distribution.mpi": (PLAIN, {}),
    "distribution.mpi.processes_per_host": ({**PLAIN, "distribution": {"mpi": {}}}, 4),
    "distribution.mpi.options": ({**PLAIN, "distribution": {"mpi": {}}}, ["-x", "A=1"]),
    "distribution.parameter_server": (PLAIN, {"framework": "mxnet"}),
    "distribution.parameter_server.framework": (
        {**PLAIN, "distribution": {"parameter_server": {"framework": "mxnet"}}},
        "tensorflow",
    ),
    "distribution.smdataparallel": (PLAIN, {}),
    "hyperparameters": (PLAIN, {"lr": 1}),
    "hyperparameters.lr": (PLAIN, 1),
    "hyperparameter_encoding": ({**PLAIN, "hyperparameters": {"a": "b"}}, "json_strings"),
    "environment": (PLAIN, {"A": "1"}),
    "environment.A": (PLAIN, "1"),
    "stopping": (PLAIN, {}),
    "stopping.max_runtime": (PLAIN, "6h"),
    "stopping.max_pending": (PLAIN, "2h"),
    "spot": (PLAIN, {"max_wait": "30h"}),
    "spot.max_wait": ({**PLAIN, "spot": {"max_wait": "30h"}}, "31h"),
    "retries": (PLAIN, 2),
    "queue": (PLAIN, "training"),
    "queue.name": (QUEUED, "other"),
    "queue.priority": (QUEUED, 20),
    "queue.share": (QUEUED, "search"),
    "queue.quota_share": (QUEUED, "research"),
    "queue.attempts": (QUEUED, 4),
    "queue.timeout": (QUEUED, "9h"),
    "queue.preemptions": (QUEUED, 3),
    "output": (PLAIN, {"s3": "s3://elsewhere/"}),
    "output.s3": (PLAIN, "s3://elsewhere/"),
    "output.kms_key": (PLAIN, "key"),
    "output.compression": (PLAIN, "NONE"),
    "checkpoints": (PLAIN, {"s3": "s3://example-models/c/"}),
    "checkpoints.s3": ({**PLAIN, "checkpoints": {"s3": "s3://example-models/c/"}}, "s3://example-models/d/"),
    "checkpoints.local": ({**PLAIN, "checkpoints": {"s3": "s3://example-models/c/"}}, "/opt/ml/mine"),
    "tensorboard": (PLAIN, "s3://example-models/t/"),
    "network": (PLAIN, {"subnets": ["subnet-1"], "security_groups": ["sg-1"]}),
    "network.subnets": (PLAIN, ["subnet-1"]),
    "network.security_groups": (PLAIN, ["sg-1"]),
    "network.isolation": (PLAIN, True),
    "network.encrypt_inter_container": (PLAIN, True),
    "metrics": (PLAIN, [{"name": "loss", "regex": "(.*)"}]),
    "metrics.0.name": ({**PLAIN, "metrics": [{"name": "loss", "regex": "(.*)"}]}, "cost"),
    "metrics.0.regex": ({**PLAIN, "metrics": [{"name": "loss", "regex": "(.*)"}]}, "(.+)"),
    "tags": (PLAIN, {"team": "ads"}),
    "tags.team": (PLAIN, "ads"),
    "job_name": (PLAIN, "exact-name"),
    "api": (PLAIN, {"RemoteDebugConfig": {"EnableRemoteDebug": True}}),
    "checks": (PLAIN, {"ignore": [{"rule": "SM302", "because": "so"}]}),
    "vars": (PLAIN, {"size": {"default": 1}}),
    "overlays": (PLAIN, {"dev": {"retries": 2}}),
}
_LAYERS = {"smspec", "extends"}


def general(key: str) -> str:
    """Return a path with `*` for names and numbers, as the table has it."""
    names = {"train", "more", "lr", "A", "team", "0"}
    steps = key.split(".")
    return ".".join("*" if step in names and at else step for at, step in enumerate(steps))


def row_of(key: str) -> KeyRow:
    """Return the row of a key, or of the key whose entry it is."""
    path = general(key)
    return ROW.get(path) or ROW[path.rpartition(".")[0]]


def changed(spec: dict[str, object], key: str, value: object) -> dict[str, object]:
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


def _others() -> dict[str, tuple[dict[str, object], object]]:
    """Return keys that need no job of their own, with the example of the schema."""
    covered = {general(key) for key in _CHANGES}
    return {
        row.path: (PLAIN, spec_keys()[tuple(row.path.split("."))]["examples"][0])
        for row in ROWS
        if row.path not in covered and row.path.split(".")[0] not in _LAYERS and not row.path.startswith("checks.")
    }


CHANGES = {**_CHANGES, **_others()}
"""Key → the spec that has it, or not yet, and another value. A key below names is under `train`, `0` and the like."""
