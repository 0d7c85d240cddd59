"""Rules about failures in the container, with near misses."""

import pytest

from smspec.rules import lint
from support.spec import job_samples

PIPE = {"s3": "s3://example-data/ctr/", "input_mode": "Pipe"}
FAST_FILE = {"s3": "s3://example-data/ctr/", "input_mode": "FastFile"}
FILES = ("train.py", "reader.py")
ISOLATED = {"isolation": True}
INSTALLED = {"base": "python:3.12", "python_requirements": "src/requirements.txt"}
PACKAGES = {"base": "python:3.12", "python_packages": ["numpy==2.1.0"]}
OTHER_LIST = {"base": "python:3.12", "python_requirements": "requirements.txt"}
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
    ("SM379", ("network", "isolation"), {"network": ISOLATED, "image": INSTALLED}, ("setup.py", "requirements.txt")),
    ("SM381", ("network", "isolation"), {"network": ISOLATED, "image": {"base": "team/base:3"}}, ("requirements.txt",)),
    ("SM381", ("network", "isolation"), {"network": ISOLATED, "image": PACKAGES}, ("requirements.txt",)),
    ("SM381", ("network", "isolation"), {"network": ISOLATED, "image": OTHER_LIST}, ("requirements.txt",)),
    (
        "SM381",
        ("network", "isolation"),
        {"network": ISOLATED, "image": job_samples.IMAGE_URI, "source": {"dir": "src/", "delivery": "channel"}},
        ("requirements.txt",),
    ),
    ("SM380", ("hyperparameters",), {"hyperparameters": MANY}, ()),
    ("SM382", ("entry_point", "args", 1), {"entry_point": {"script": "train.py", "args": ["a", "é" * 65_536]}}, ()),
    ("SM382", ("entry_point", "command", 0), {"entry_point": {"command": ["a" * 131_072]}}, ()),
    ("SM382", ("image", "env", "A"), {"image": {"base": "python:3", "env": {"A": "b" * 131_070}}}, ()),
    ("SM382", ("image", "run", 0), {"image": {"base": "python:3", "run": ["b" * 131_072]}}, ()),
]


@pytest.mark.parametrize(("code", "path", "changes", "files"), FOUND)
def test_rule_reports_one_finding_at_its_path(code, path, changes, files):
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
    ({"image": {"base": "python:3", "env": {"A": "b" * 131_069}, "run": ["b" * 131_071]}}, ()),
    ({"network": ISOLATED, "image": INSTALLED}, ("requirements.txt",)),
    (
        {"network": ISOLATED, "image": {"base": "team/base:3", "python_requirements": "./src//requirements.txt"}},
        ("requirements.txt",),
    ),
    ({"hyperparameters": MANY, "entry_point": {"command": ["./train"]}}, ()),
]


@pytest.mark.parametrize(("changes", "files"), NOTHING)
def test_working_jobs_have_no_findings(changes, files):
    assert lint(job_samples.job(**changes), job_samples.listing(*FILES, *files)) == []
