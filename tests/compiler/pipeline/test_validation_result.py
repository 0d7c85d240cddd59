"""Validation is equal with one process and with several, and Ctrl-C stops all of them."""

import os
import signal
import subprocess
import sys
import time

import pytest

from support.pipe.fifo_writers import eventually
from support.smspec_command import environment, smspec_process
from support.spec.repository_jobs import job
from support.spec.spec_repository import write_repository

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="there is one processor, or no Linux"
)

JOBS = 110


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A large repository with errors in some files, between others, and in one that is not YAML."""
    root = tmp_path_factory.mktemp("repository")
    write_repository(root, JOBS)
    (root / "aaa.yaml").write_text(job("aaa", "checkpoints: s3://example-checkpoints/team-00/job-0000/\n"))
    (root / "broken.yaml").write_text("smspec: v1\nname: [\n")
    (root / "job-copy.yaml").write_text(job("aaa", "nme: x\n"))
    (root / "unused.yaml").write_text("smspec: v1\n")
    # Only what extends a file shows that it is no job: each process checks it in vain.
    (root / "000-base.yaml").write_text(job("only-a-base", "nme: x\n"))
    (root / "extending.yaml").write_text("smspec: v1\nname: extending\nextends: [000-base.yaml]\nnme: null\n")
    for number in (3, 40, 77):
        path = next(root.glob(f"jobs/*/job-{number:04}/job.yaml"))
        path.write_text(path.read_text().replace("count: 2", "count: 0"))
    return root


def alone():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


@pytest.mark.parametrize("format", ["text", "json", "mermaid"])
def test_output_is_equal_with_one_process_or_several(format, repository):
    words = ("validate", ".", "--format", format)
    several = smspec_process(*words, cwd=repository)
    assert several == smspec_process(*words, cwd=repository, preexec_fn=alone)
    assert several.status == 1
    assert "000-base" not in several.out + several.err
    assert "SM702" in several.out + several.err or format == "mermaid"


@pytest.mark.parametrize("words", [["-O", "dev"], ["--set", "vars.nothing=1"]])
def test_bad_options_are_equal_with_one_process_or_several(words, repository):
    """Most jobs have no overlay of that name."""
    several = smspec_process("validate", "jobs", *words, cwd=repository)
    assert several == smspec_process("validate", "jobs", *words, cwd=repository, preexec_fn=alone)
    assert (several.status, several.out) == (2, "")


def children(process):
    try:
        with open(f"/proc/{process}/task/{process}/children") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


def lives(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_the_command_and_its_workers(number, tmp_path):
    write_repository(tmp_path, 300)
    command = [sys.executable, "-m", "smspec", "validate", "."]
    running = subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    workers = eventually(lambda: children(running.pid), "workers")
    started = time.monotonic()
    running.send_signal(number)
    out, err = running.communicate(timeout=30)
    assert time.monotonic() - started < 10
    assert (running.returncode, out, err) == (128 + number, "", "")
    assert [worker for worker in workers if lives(worker)] == []


def test_killed_worker_is_reported(tmp_path):
    write_repository(tmp_path, 300)
    command = [sys.executable, "-m", "smspec", "validate", "."]
    running = subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    os.kill(eventually(lambda: children(running.pid), "workers")[0], signal.SIGKILL)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (3, "")
    assert err == "smspec: a worker process was killed by signal 9; check the available memory\n"
