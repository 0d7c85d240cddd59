"""What would fail, or be lost, only in the container: every such rule finds it, and nothing in jobs that come close."""

import pytest

import job_samples
from smspec.rules import lint

PIPE = {"s3": "s3://example-data/ctr/", "input_mode": "Pipe"}
FAST_FILE = {"s3": "s3://example-data/ctr/", "input_mode": "FastFile"}
FILES = ("train.py", "reader.py")
ISOLATED = {"isolation": True}
MANY = {f"table_{number}": "x" * 2000 for number in range(70)}

FOUND = [
    ("SM375", ("channels", "Train"), {"channels": {"train": "s3://a-b/c/", "Train": "s3://a-b/d/"}}, ()),
    ("SM376", ("hyperparameters", "K"), {"hyperparameters": {"k": 1, "K": 2}}, ()),
    (
        "SM377",
        ("input_mode",),
        {"input_mode": "Pipe", "channels": {"a": "s3://a-b/c/"}, "distribution": "torchrun"},
        (),
    ),
    (
        "SM377",
        ("channels", "a", "input_mode"),
        {"channels": {"a": PIPE, "b": FAST_FILE}, "distribution": {"mpi": {"processes_per_host": 8}}},
        (),
    ),
    ("SM377", ("channels", "a", "input_mode"), {"channels": {"a": PIPE}, "distribution": {"smdataparallel": {}}}, ()),
    ("SM378", ("network", "isolation"), {"network": ISOLATED, "source": {"dir": "src/", "delivery": "s3"}}, ()),
    (
        "SM378",
        ("api", "EnableNetworkIsolation"),
        {"api": {"EnableNetworkIsolation": True}, "source": {"dir": "src/", "delivery": "s3"}},
        (),
    ),
    ("SM379", ("network", "isolation"), {"network": ISOLATED}, ("requirements.txt",)),
    ("SM379", ("network", "isolation"), {"network": ISOLATED}, ("setup.py",)),
    ("SM380", ("hyperparameters",), {"hyperparameters": MANY}, ()),
]


@pytest.mark.parametrize(("code", "path", "changes", "files"), FOUND)
def test_it_is_found_at_its_place_and_alone(code, path, changes, files):
    found = lint(job_samples.job(**changes), job_samples.listing(*FILES, *files))
    assert [(finding.code, finding.path) for finding in found] == [(code, path)]


NOTHING = [
    ({"channels": {"train": "s3://a-b/c/", "train_2": "s3://a-b/d/"}}, ()),
    ({"hyperparameters": {"k": 1, "K": 2}, "entry_point": {"command": ["./train"]}}, ()),
    ({"channels": {"a": FAST_FILE}, "distribution": "torchrun"}, ()),
    ({"channels": {"a": PIPE}, "distribution": {"torchrun": {"processes_per_host": 1}}}, ()),
    ({"channels": {"a": PIPE}}, ()),
    ({"network": ISOLATED, "source": {"dir": "src/", "delivery": "channel"}}, ()),
    ({"network": ISOLATED, "api": {"EnableNetworkIsolation": False}}, ("requirements.txt",)),
    ({"network": ISOLATED}, ("docs/requirements.txt", "requirements-dev.txt", "pyproject.toml")),
    ({"network": ISOLATED, "entry_point": {"command": ["./train"]}}, ("setup.py",)),
    ({"network": {"isolation": False}}, ("requirements.txt",)),
    ({"hyperparameters": MANY, "entry_point": {"command": ["./train"]}}, ()),
]


@pytest.mark.parametrize(("changes", "files"), NOTHING)
def test_what_works_is_not_found(changes, files):
    assert lint(job_samples.job(**changes), job_samples.listing(*FILES, *files)) == []
