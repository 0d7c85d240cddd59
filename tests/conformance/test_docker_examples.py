"""The image of each example: how it is built, what it is, and what a stopped and a killed run leave."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.docker_engine import built_steps
from support.local.local_jobs import DEADLINE, LocalJob
from support.sampled_cases import only_with_all_engines
from support.smspec_command import smspec

pytest_plugins = ["support.docker_engine"]
pytestmark = pytest.mark.xdist_group("docker")  # one engine, where xdist is told to keep groups together

SPECS = Path(__file__).parents[2] / "specs"
EXAMPLES = sorted(path.parent.name for path in SPECS.glob("*/job.yaml") if path.parent.name != "torchrun-ddp")
HADOLINT = shutil.which("hadolint", path=os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"])))
BASE = "python:3.12-slim-bookworm"
CHANGED = {"script-mode": "hp2: 299"}
LARGEST = 1_000_000
"""Bytes that an image adds to its base: runtime, compiled modules, and source."""


@pytest.fixture
def job(engine, tmp_path, monkeypatch, request):
    """An example in a directory, whose base the engine has."""
    (tmp_path / "base").mkdir()
    engine.make_python_image(engine.base, tmp_path / "base", BASE)
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    monkeypatch.setenv("PATH", f"{os.path.dirname(engine.client) or '/usr/bin'}{os.pathsep}{os.environ['PATH']}")
    job = LocalJob(tmp_path / request.param, engine="docker")
    leave = shutil.ignore_patterns("build", "run", "__pycache__")
    shutil.copytree(SPECS / request.param, job.directory, ignore=leave, dirs_exist_ok=True)
    if (job.directory / "make_data.py").exists():
        subprocess.run([sys.executable, "make_data.py"], cwd=job.directory, check=True, stdout=subprocess.DEVNULL)
    return job


def built(job, spec="job.yaml"):
    """Build the tree of a spec; return its directory and the name of its image."""
    done = smspec("build", spec, "-o", "tree", cwd=job.directory)
    assert done.status == 0, done.err
    tree = job.directory / "tree"
    request = json.loads((tree / "create-training-job.json").read_text())
    return tree, request["AlgorithmSpecification"]["TrainingImage"]


def size(engine, image):
    return int(engine.docker("image", "inspect", "--format", "{{.Size}}", image).stdout)


def containers(engine):
    return engine.docker("ps", "--all", "--quiet", "--filter", "label=smspec.run").stdout.split()


def networks(engine):
    return engine.docker("network", "ls", "--quiet", "--filter", "label=smspec.run").stdout.split()


def started(engine, job):
    """Start a run, and wait until one of its containers runs: all have been created then."""
    process = job.start(**{"rate": "1MB"} if "input_mode: Pipe" in (job.directory / "job.yaml").read_text() else {})
    deadline = time.monotonic() + DEADLINE
    while f"smspec-{process.pid}-" not in engine.docker("ps", "--format", "{{.Names}}").stdout:
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    return process


# The sample has one of the three in Pipe mode.
@pytest.mark.parametrize(
    "job",
    [
        pytest.param(name, marks=only_with_all_engines if name in ("pipe-augmented", "pipe-byo") else ())
        for name in EXAMPLES
    ],
    indirect=True,
)
def test_image_of_an_example(engine, job):
    tree, image = built(job)
    if HADOLINT is not None:
        checked = subprocess.run([HADOLINT, tree / "Dockerfile"], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout
    engine.build(tree, image)
    assert built_steps(engine.build(tree, image)) == set()
    config = engine.config(image)
    assert (config["User"], config["Entrypoint"]) == ("", ["python3", "/opt/smspec/entrypoint.py"])
    name = job.directory.name
    assert config["Labels"]["org.opencontainers.image.title"] == name
    assert config["Labels"]["org.opencontainers.image.base.name"] == BASE
    assert 0 < size(engine, image) - size(engine, BASE) < LARGEST

    changed = CHANGED.get(name, "new: 1")
    job.write("changed.yaml", f"smspec: v1\nextends: [job.yaml]\nhyperparameters: {{{changed}}}\n")
    tree, same = built(job, "changed.yaml")
    assert same == image
    assert built_steps(engine.build(tree, image)) == set()

    (source,) = (job.directory / "src").glob("*.py")
    source.write_text(f"{source.read_text()}\nCHANGED = 1\n")
    tree, changed = built(job)
    is_in_image = (tree / "source").exists()
    assert (changed != image) == is_in_image
    assert built_steps(engine.build(tree, changed)) == ({"COPY source/ /opt/ml/code/"} if is_in_image else set())

    process = started(engine, job)
    process.kill()
    process.communicate(timeout=DEADLINE)
    process = started(engine, job)  # which removes what the killed one left, before it creates any
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=DEADLINE)
    assert process.returncode in (143, 0), error
    assert (containers(engine), networks(engine)) == ([], [])
    job.assert_nothing_left()
