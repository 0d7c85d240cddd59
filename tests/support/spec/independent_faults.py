"""A valid job and faults of single keys."""

from pathlib import Path

from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.validation_result import check_spec

ROLE = "arn:aws:iam::111122223333:role/SageMakerTraining"
GOOD = {
    "smspec": "v1",
    "name": "ctr-linear",
    "role": ROLE,
    "region": "us-west-2",
    "account": '"111122223333"',
    "image": '{base: "python:3.12-slim-bookworm@sha256:' + "1" * 64 + '", python_packages: [numpy==2.1.0]}',
    "source": "src/",
    "entry_point": "train.py",
    "channels": "{train: s3://example-data/ctr/train/}",
    "hosts": "{instance_type: ml.m5.xlarge, count: 2, volume: 50GB}",
    "hyperparameters": "{epochs: 5}",
    "environment": "{NCCL_DEBUG: WARN}",
    "stopping": "{max_runtime: 6h}",
    "retries": "2",
    "output": "s3://example-models/ctr/",
    "checkpoints": "s3://example-models/ctr-checkpoints/",
    "tensorboard": "s3://example-models/ctr-tensorboard/",
    "network": "{subnets: [subnet-0aa], security_groups: [sg-0bb]}",
    "metrics": "[{name: loss, regex: 'loss=([0-9.]+)'}]",
    "tags": "{team: ads}",
    "api": "{}",
    "checks": "{}",
}
PROGRAM = """\
import argparse, os

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
print(parser.parse_args().epochs, os.environ["SM_CHANNEL_TRAIN"])
print("resumes from the last step")
"""

# Name → the key that is at fault, and what is written there. Two faults of one key are not independent.
FAULTS = {
    "name": ("name", "CTR_linear"),
    "long name": ("name", "a" * 49),
    "role": ("role", "SageMakerTraining"),
    "role of ten digits": ("role", "arn:aws:iam::1111222233:role/x"),
    "missing role": ("role", None),
    "region": ("region", "Oregon"),
    "account": ("account", "111122223333"),
    "no base": ("image", "{python_packages: [numpy==2.1.0]}"),
    "key of the image": ("image", '{base: "python:3.12", packages: [numpy]}'),
    "name in the image": ("image", '{base: "python:3.12", env: {"A-B": 1}}'),
    "secret in the image": (
        "image",
        '{base: "python:3.12", python_packages: [torch], env: {DB_PASSWORD: hunter2hunter2}}',
    ),
    "no source": ("source", "scr/"),
    "delivery": ("source", "{dir: src/, delivery: imge}"),
    "no script": ("entry_point", "trian.py"),
    "two entry points": ("entry_point", "{script: train.py, command: [a]}"),
    "args style": ("entry_point", "{script: train.py, args_style: posix}"),
    "channel without data": ("channels", "{train: s3://example-data/ctr/train/, val: {content_type: text/csv}}"),
    "mode of a channel": ("channels", "{train: {s3: s3://example-data/ctr/train/, input_mode: Fast}}"),
    "bucket of a channel": ("channels", "{train: s3://Example_Data/ctr/}"),
    "channels of one variable": ("channels", "{train: s3://example-data/a/, Train: s3://example-data/b/}"),
    "size": ("hosts", "{instance_type: ml.m5.medum, count: 2, volume: 50GB}"),
    "misspelled type": ("hosts", "{instance_typ: ml.m5.xlarge, count: 2, volume: 50GB}"),
    "count": ("hosts", "{instance_type: ml.m5.xlarge, count: two, volume: 50GB}"),
    "volume": ("hosts", "{instance_type: ml.m5.xlarge, count: 2, volume: 50 GB}"),
    "zero hosts": ("hosts", "{instance_type: ml.m5.xlarge, count: 0, volume: 50GB}"),
    "list of hyperparameters": ("hyperparameters", "[epochs, 5]"),
    "unknown argument": ("hyperparameters", "{epochs: 5, epohcs: 6}"),
    "long hyperparameter": ("hyperparameters", "{epochs: 5, x: " + "y" * 2501 + "}"),
    "ambiguous hyperparameter": ("hyperparameters", "{epochs: 0x5}"),
    "environment": ("environment", "{A: [1]}"),
    "name of a variable": ("environment", '{"A-B": c}'),
    "duration": ("stopping", "{max_runtime: 6 hours}"),
    "key of stopping": ("stopping", "{max_run: 6h}"),
    "28 days": ("stopping", "{max_runtime: 29d}"),
    "word for retries": ("retries", "many"),
    "too many retries": ("retries", "31"),
    "output": ("output", "results/"),
    "missing output": ("output", None),
    "bucket of the output": ("output", "s3://Example_Models/ctr/"),
    "compression": ("output", "{s3: s3://example-models/ctr/, compression: zip}"),
    "checkpoints": ("checkpoints", "ckpt/"),
    "bucket of the checkpoints": ("checkpoints", "s3://a_/ckpt/"),
    "checkpoints in a directory of SageMaker": ("checkpoints", "{s3: s3://example-models/c/, local: /opt/ml/model}"),
    "tensorboard": ("tensorboard", "tb/"),
    "bucket of tensorboard": ("tensorboard", "s3://tb_/a/"),
    "text for subnets": ("network", "{subnets: subnet-0aa, security_groups: [sg-0bb]}"),
    "id of a subnet": ("network", "{subnets: [0aa], security_groups: [sg-0bb]}"),
    "metric without a regex": ("metrics", "[{name: loss}]"),
    "metric without a group": ("metrics", "[{name: loss, regex: 'loss='}]"),
    "list of tags": ("tags", "[team]"),
    "reserved tag": ("tags", "{'aws:team': ads}"),
    "unknown member": ("api", "{RemoteDebug: {EnableRemoteDebug: true}}"),
    "text for a member": ("api", "{EnableInterContainerTrafficEncryption: 'yes'}"),
    "check ignored in vain": ("checks", "{ignore: [{rule: SM320, because: it was so once}]}"),
    "check without a reason": ("checks", "{ignore: [{rule: SM320}]}"),
    "unknown key": ("intput_mode", "Pipe"),
    "word of another tool": ("workdir", "src"),
    "text for spot": ("spot", "'yes'"),
    "wait below the run": ("spot", "{max_wait: 1h}"),
    "unknown launcher": ("distribution", "torchrn"),
    "ports of a launcher": ("distribution", "{torchrun: {port: http}}"),
    "long description": ("description", "[a, b]"),
}

# What takes two keys to see: a fault of the other key may hide it, or change what is said of it.
NEEDS = {
    "wait below the run": {"stopping"},
    "no script": {"source"},
    "unknown argument": {"source", "entry_point"},
    "long hyperparameter": {"source", "entry_point"},  # it is unknown to the program, too
    "ambiguous hyperparameter": {"source", "entry_point"},
}


def lay_out(place):
    """Write what the job names into a directory, and return that."""
    (place / "src").mkdir()
    (place / "src/train.py").write_text(PROGRAM)
    return place


def written(faults, more=None):
    keys = dict(GOOD)
    keys.update(more or {})
    for name in faults:
        key, value = FAULTS[name]
        keys.pop(key, None)
        if value is not None:
            keys[key] = value
    return "".join(f"{key}: {value}\n" for key, value in keys.items())


def found(directory, *faults, more=None):
    """Return what is reported of a job with these faults, and with ``more`` keys."""
    path = Path(directory, "job.yaml")
    path.write_text(written(faults, more))
    checked = check_spec(str(path), None, {}, InputCache())
    return {(d.code, d.severity, d.path) for d in checked.diagnostics}
