"""A job that prints as fast as it can is watched, stopped, and survives a watcher that leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from support.local.local_jobs import DEADLINE, LocalJob, script

LINE = "step %07d loss=0.5 " + 80 * "."
ENDLESS = f"""
number = 0
while True:
    print({LINE!r} % number)
    number += 1
"""
MEGABYTES = 20
FLOOD = f"""
import sys
for number in range({MEGABYTES} * 10_000):
    print({LINE!r} % number)
print("last", file=sys.stderr)
"""


@pytest.fixture
def job(tmp_path):
    job = LocalJob(tmp_path / "job")
    yield job
    job.assert_nothing_left()


def log_of(job):
    return (job.run_directory / "logs" / "algo-1.log").read_bytes()


def shown(err: bytes) -> bytes:
    return b"".join(line[9:] for line in err.splitlines(keepends=True) if line.startswith(b"algo-1 | "))


def started(job, *options: str) -> subprocess.Popen:
    """Start a run whose output the test reads as bytes."""
    words = [*job.words(), *options]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # Python writes to an unbuffered stream only what there is room for when a signal arrives.
    return subprocess.Popen(words, cwd=job.directory, env={**os.environ, "PYTHONUNBUFFERED": "1"}, **pipes)


def test_everything_is_shown_and_logged(job):
    script(job, FLOOD)
    process = started(job)
    _, err = process.communicate(timeout=DEADLINE)
    log = log_of(job)
    assert process.returncode == 0
    assert shown(err) == log
    lines = [line for line in log.splitlines() if line.startswith(b"step")]
    assert lines == [(LINE % number).encode() for number in range(MEGABYTES * 10_000)]
    assert b"last" in log.splitlines()


def test_interrupt_in_a_flood_stops_the_job(job):
    script(job, ENDLESS)
    process = started(job)
    seen = b""
    while seen.count(b"\n") < 10_000:
        data = os.read(process.stderr.fileno(), 1 << 16)
        assert data, "it ended by itself"
        seen += data
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    assert b"stopping; press Ctrl-C again to kill\n" in err
    assert time.monotonic() - sent < 60
    is_whole = shown(seen + err).splitlines() == log_of(job).splitlines()
    assert is_whole


def test_flood_outlives_who_watches_it(job):
    script(job, FLOOD)
    process = started(job)
    assert process.stderr.read(1 << 16)
    process.stderr.close()
    out = process.stdout.read()
    assert process.wait(DEADLINE) == 0
    assert b"Completed" in out
    assert log_of(job).count(b"step") == MEGABYTES * 10_000


def test_full_disk_in_a_flood_is_reported(job):
    """A limit on the size of files is as a full disk, without being root."""
    script(job, ENDLESS)
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 22, 1 << 22)); "
        "from smspec.cli import main; sys.exit(main())"
    )
    words = [sys.executable, "-c", limited, *job.words()[3:], "-q"]
    ended = subprocess.run(words, cwd=job.directory, capture_output=True, text=True, timeout=DEADLINE)
    assert ended.returncode == 3
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("smspec: ") and "file too large" in last and "Traceback" not in ended.stderr


def test_flood_takes_no_memory(job):
    """Neither lines nor blocks are kept, with a reader of the log or without."""
    script(job, FLOOD)
    code = (
        "import sys; from smspec.cli import main; status = main(); "
        "print(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0]); sys.exit(status)"
    )
    words = [sys.executable, "-c", code, *job.words()[3:]]
    ended = subprocess.run(
        words, cwd=job.directory, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=DEADLINE
    )
    assert ended.returncode == 0
    assert int(ended.stdout.split()[-1]) < 100_000  # in kilobytes
