"""The Pipe mode examples run as their READMEs describe, on generated data."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from support.local.local_jobs import DEADLINE, LocalJob
from support.smspec_command import smspec

SPECS = Path(__file__).parents[2] / "specs"


@pytest.fixture
def example(tmp_path):
    """Return a function that copies an example, without what it made before, and makes its data."""
    jobs = []

    def copy(name):
        job = LocalJob(tmp_path / name)
        leave = shutil.ignore_patterns("data", "build", "run", "__pycache__")
        shutil.copytree(SPECS / name, job.directory, ignore=leave, dirs_exist_ok=True)
        subprocess.run([sys.executable, "make_data.py"], cwd=job.directory, check=True, stdout=subprocess.DEVNULL)
        jobs.append(job)
        return job

    yield copy
    for job in jobs:
        job.assert_nothing_left()


def metric(job):
    """Return what SageMaker would publish: all that the only metric's expression finds in the log."""
    request = smspec("render", "--api-json", cwd=job.directory)
    (definition,) = json.loads(request.out)["AlgorithmSpecification"]["MetricDefinitions"]
    return [float(value) for value in re.findall(definition["Regex"], job.log())]


def epochs(job):
    """Return the epochs that the handler logged."""
    return [int(epoch) for epoch in re.findall(r"^epoch (\d+): ", job.log(), re.MULTILINE)]


def falls(values):
    return all(after < before for before, after in pairwise(values))


def completed(job, **request):
    """Run to the end, with no warning."""
    done = job.run(**request)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    return done


@pytest.mark.parametrize("name", ["pipe-recordio", "pipe-augmented"])
def test_examples_have_no_findings(example, name):
    job = example(name)
    validated = smspec("validate", cwd=job.directory)
    assert validated.status == 0 and "no problems found" in validated.out + validated.err
    built = smspec("build", cwd=job.directory)
    assert built.status == 0 and "warning" not in built.err


def test_loss_of_pipe_recordio_falls(example):
    job = example("pipe-recordio")
    completed(job)
    losses = metric(job)
    assert epochs(job) == list(range(8)) and len(losses) == 8
    assert falls(losses) and losses[-1] < losses[0] / 100
    weights, bias = json.loads(job.archive()["weights.json"])
    assert weights == pytest.approx([2.0, -1.0, 0.5, 3.0, 0.0, -2.5, 1.5, -0.5], abs=0.2)
    assert bias == pytest.approx(4.0, abs=0.1)


def test_pipe_recordio_fits_the_same_with_and_without_numpy(example):
    pytest.importorskip("numpy")
    job = example("pipe-recordio")
    completed(job, python=sys.executable)
    losses = metric(job)
    job.write("src/numpy.py", 'raise ImportError("this image has no numpy")')
    completed(job, python=sys.executable)
    assert metric(job) == pytest.approx(losses, rel=1e-3)


def test_pipe_recordio_resumes_after_its_checkpoint(example):
    """Interrupted by Ctrl-C in the middle of an epoch; the next run begins with that epoch, and with its weights."""
    job = example("pipe-recordio")
    job.start(rate="250kB")
    job.wait_for_log("epoch 1: ")
    job.process.send_signal(signal.SIGINT)
    out, err = job.process.communicate(timeout=DEADLINE)
    assert "Stopped" in out, err
    before, losses = epochs(job), metric(job)
    assert before == list(range(len(before)))

    again = completed(job)
    assert "resuming from the checkpoints of the last run" in again.stderr
    assert f"smspec: resuming: {len(before)} of 8 epochs are in" in job.log()
    assert before + epochs(job) == list(range(8))
    assert falls(losses + metric(job))


def test_accuracy_of_pipe_augmented_rises(example):
    job = example("pipe-augmented")
    completed(job)
    accuracies = metric(job)
    assert epochs(job) == list(range(6)) and len(accuracies) == 6
    assert sorted(accuracies) == accuracies
    assert accuracies[0] < 0.85 < 0.9 < accuracies[-1]
    assert "weights.json" in job.archive()
