"""A local run killed at any moment leaves no process and does not block the next run."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import time

import pytest

from smspec.local.engines.namespace.availability import cell_words
from support.local.local_jobs import DEADLINE, LocalJob
from support.local.ordinary_user import OrdinaryJob, kind_of

MOMENTS = int(os.environ.get("SMSPEC_KILLED_RUNS", "4"))
CLINGING = """
import os, signal, subprocess, sys, tempfile, time

def cling():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    tempfile.mkstemp()
    while True:
        time.sleep(60)

if os.fork() == 0:  # a daemon: its own session, its parent gone
    os.setsid()
    if os.fork() == 0:
        cling()
    os._exit(0)
if os.fork() == 0:  # no open file of its parent
    os.closerange(0, 100)
    cling()
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
if os.environ.get("BRIEF"):
    time.sleep(0.2)
    os._exit(0)
print("clinging", flush=True)
cling()
"""
SPEC = """
source: src/
entry_point: train.py
channels:
  train: {s3: "s3://data/train/", local: data/}
  pipe: {s3: "s3://data/train/", local: data/, input_mode: Pipe}
hosts: {instance_type: ml.m5.large, count: 2, volume: 1GB}
checkpoints: {s3: "s3://models/checkpoints/"}
"""


@pytest.fixture
def kind(request):
    return kind_of(request)


@pytest.fixture
def job(tmp_path):
    job = LocalJob(tmp_path / "job")
    job.spec(SPEC)
    job.write("src/train.py", CLINGING)
    job.write("data/a", random.Random(0).randbytes(1 << 20))
    (tmp_path / "temporary").mkdir()
    job.environment = {"TMPDIR": str(tmp_path / "temporary")}
    return job


def kill(job: LocalJob, seconds: float) -> None:
    """Kill a run that old: at once, as the machine's memory or an impatient person does."""
    process = job.start(job.environment)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass
    process.kill()
    process.communicate(timeout=DEADLINE)


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_run_killed_at_any_moment_leaves_no_process(job, tmp_path, moment):
    """Daemons and what ignores signals are ended too; the next run has all directories to itself."""
    kill(job, random.Random(moment).uniform(0, 2.5))
    job.assert_nothing_left()
    job.write("src/train.py", "print('done')")
    ended = job.run(job.environment)
    assert ended.returncode == 0, ended.stderr
    # Python tries a directory for temporary files with a file of four letters, which a kill can leave.
    left = [path for path in (tmp_path / "temporary").iterdir() if path.is_dir() or path.read_bytes() != b"blat"]
    assert left == []


def test_killed_run_with_stubborn_hosts_leaves_no_process(job, tmp_path):
    process = job.start(job.environment)
    for host in ("algo-1", "algo-2"):
        job.wait_for_log("clinging", host)
    started = time.monotonic()
    process.kill()
    process.communicate(timeout=DEADLINE)
    job.assert_nothing_left()
    assert time.monotonic() - started < 20


def test_processes_left_by_a_job_are_ended(job):
    ended = job.run({**job.environment, "BRIEF": "1"})
    assert ended.returncode == 0, ended.stderr


def test_script_killing_its_parents_leaves_no_process(job):
    """The guard of a host is a process of the same user, so a program may end it."""
    job.write(
        "src/train.py",
        """
        import os, signal, time
        def parent(process):
            with open(f"/proc/{process}/stat") as stat:
                return int(stat.read().rpartition(")")[2].split()[1])
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
        runtime = os.getppid()
        guard = parent(runtime)
        os.kill(guard, signal.SIGKILL)
        time.sleep(60)
        """,
    )
    if not os.path.isdir("/proc/self"):
        pytest.skip("without /proc a process does not find its grandparent")
    ended = job.run(job.environment)
    assert ended.returncode == 1, ended.stderr


def test_temporary_files_of_a_job_are_removed(job, tmp_path):
    job.write("src/train.py", "import tempfile; print('MADE', tempfile.mkdtemp())")
    assert job.run(job.environment).returncode == 0
    assert f"MADE {tmp_path}/temporary/smspec-tmp-" in job.log()
    assert os.listdir(tmp_path / "temporary") == []


NESTING = """
import os, time
os.chdir("/tmp")
for _ in range(3000):
    os.mkdir("directory")
    os.chdir("directory")
os.mkdir("closed", 0)
print("NESTED", flush=True)
time.sleep(600)
"""


@pytest.mark.needs_namespaces
@pytest.mark.parametrize("kind", [LocalJob, OrdinaryJob], indirect=True, ids=["root", "user"])
def test_killed_run_leaves_its_directory_as_any_run(public_directory, kind):
    """Its cell outlives it, and removes the /tmp of the hosts, which can be large: no later run has to."""
    job = kind(public_directory / "job", engine="namespace")
    job.spec(SPEC.partition("channels")[0] + "hosts: {instance_type: ml.m5.large, count: 2, volume: 1GB}\n")
    job.write("src/train.py", NESTING)
    process = job.start()
    for host in ("algo-1", "algo-2"):
        job.wait_for_log("NESTED", host)
    hosts = job.run_directory / "hosts"
    assert stat.S_IMODE(hosts.stat().st_mode) == 0o700
    process.kill()
    process.communicate(timeout=DEADLINE)
    end = time.monotonic() + DEADLINE
    while hosts.stat().st_mode != job.run_directory.stat().st_mode and time.monotonic() < end:
        time.sleep(0.05)
    assert hosts.stat().st_mode == job.run_directory.stat().st_mode
    assert [name for host in ("algo-1", "algo-2") for name in os.listdir(hosts / host) if name == ".tmp"] == []
    job.assert_nothing_left()


def children(process):
    with open(f"/proc/{process}/task/{process}/children") as file:
        return [int(each) for each in file.read().split()]


def command_line(process):
    with open(f"/proc/{process}/cmdline", "rb") as file:
        return file.read().split(b"\0")


WAITING = """
import os, tempfile, time
tempfile.mkstemp()
print("READY", flush=True)
while not os.path.exists("/opt/ml/model/end"):
    time.sleep(0.02)
"""


@pytest.mark.needs_namespaces
@pytest.mark.skipif(
    not os.path.exists(f"/proc/self/task/{os.getpid()}/children"), reason="the kernel lists no children of a process"
)
def test_cell_of_a_killed_run_ends_in_good_order(public_directory):
    """Hosts end as smspec is killed: the cell has something to report, and no one who reads it."""
    job = LocalJob(public_directory / "job", engine="namespace")
    job.spec(SPEC.partition("channels")[0] + "hosts: {instance_type: ml.m5.large, count: 2, volume: 1GB}\n")
    job.write("src/train.py", WAITING)
    process = job.start()
    for host in ("algo-1", "algo-2"):
        job.wait_for_log("READY", host)
    cell = next(each for each in children(process.pid) if b"run" in command_line(each) and b"-S" in command_line(each))
    (first,) = children(cell)
    hosts = children(first)
    os.kill(first, signal.SIGSTOP)
    for host in ("algo-1", "algo-2"):
        (job.host(host) / "model/end").touch()
    end = time.monotonic() + DEADLINE
    while any(command_line(host) != [b""] for host in hosts) and time.monotonic() < end:
        time.sleep(0.02)
    process.kill()
    process.wait(DEADLINE)
    os.kill(first, signal.SIGCONT)
    _, err = process.communicate(timeout=DEADLINE)
    directory = job.run_directory / "hosts"
    while directory.stat().st_mode != job.run_directory.stat().st_mode and time.monotonic() < end:
        time.sleep(0.05)
    assert directory.stat().st_mode == job.run_directory.stat().st_mode
    assert not any((directory / host / ".tmp").exists() for host in ("algo-1", "algo-2"))
    assert "Traceback" not in err, err
    job.assert_nothing_left()


@pytest.mark.parametrize(
    "words", [["run", "/nowhere/cell.json"], ["give-back", "/nowhere"], ["probe"]], ids=lambda words: words[0]
)
def test_cell_without_a_reader_prints_no_traceback(words):
    """A killed smspec reads nothing, and the next command removes what the cell would read."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(cell_words(*words), stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.PIPE)
    finally:
        os.close(writing)
    assert ended.stderr == b""
