"""A fault takes away only the checks that need the faulty member: two faults are told as each is told alone."""

import random
from pathlib import Path

import pytest
from hypothesis import settings

from smspec.pipeline.shelf import Shelf
from smspec.pipeline.spec_check import check_spec
from smspec.spec.schema.keys import keys_in

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
    "secret in the image": ("image", '{base: "python:3.12", env: {DB_PASSWORD: hunter2hunter2}}'),
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


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    place = tmp_path_factory.mktemp("jobs")
    (place / "src").mkdir()
    (place / "src/train.py").write_text(PROGRAM)
    return place


def written(faults):
    keys = dict(GOOD)
    for name in faults:
        key, value = FAULTS[name]
        keys.pop(key, None)
        if value is not None:
            keys[key] = value
    return "".join(f"{key}: {value}\n" for key, value in keys.items())


def found(directory, *faults):
    """Return what is told of a job with these faults."""
    path = Path(directory, "job.yaml")
    path.write_text(written(faults))
    checked = check_spec(str(path), None, {}, Shelf())
    return {(d.code, d.severity, d.path) for d in checked.diagnostics}


@pytest.fixture(scope="module")
def alone(directory):
    return {name: found(directory, name) for name in FAULTS}


def test_a_job_without_a_fault_is_told_nothing(directory):
    assert found(directory) == set()


def test_every_fault_is_told(alone):
    assert [name for name, told in alone.items() if not told] == []


BESIDE_EACH = 5 if settings.default.derandomize else len(FAULTS)
"""All pairs take a minute: `make explore` looks at them."""


def beside(one):
    """Return faults to be told together with this one, none of its own key."""
    others = [other for other in FAULTS if FAULTS[other][0] != FAULTS[one][0]]
    return random.Random(one).sample(others, min(BESIDE_EACH, len(others)))


def expected(alone, one, other):
    """Return what must be told of two faults together, and what may be."""
    certain, possible = set(), set()
    for name, another in ((one, other), (other, one)):
        needs = FAULTS[another][0] in NEEDS.get(name, ())
        (possible if needs else certain).update(alone[name])
    return certain, possible


@pytest.mark.parametrize("one", FAULTS)
def test_two_faults_are_told_as_each_alone(directory, alone, one):
    for other in beside(one):
        certain, possible = expected(alone, one, other)
        told = found(directory, one, other)
        assert certain - told == set(), f"{one} and {other}: hidden"
        assert told - certain - possible == set(), f"{one} and {other}: false"


@pytest.mark.parametrize("key", keys_in(()))
def test_every_key_can_be_misspelled(directory, key):
    for word in (key[:-1], f"{key}s"):
        Path(directory, "job.yaml").write_text(written([]) + f"{word}: {{dev: {{}}}}\n")
        assert check_spec(str(Path(directory, "job.yaml")), None, {}, Shelf()).diagnostics
