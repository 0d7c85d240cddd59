"""Commands where the disk is full, /proc is missing, or signals are not heard: they end with the reason, if any."""

import os
import shutil
import signal
import sys

import pytest

from smspec.cli.console import Console, report_error
from support.local.local_jobs import LocalJob, script
from support.smspec_command import environment, smspec_process

needs_mounts = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="only root can mount, with unshare"
)


def smspec_after(job, mount, *words):
    """Run the command where only it sees what a command of a shell mounts."""
    start = ["unshare", "--mount", "sh", "-ec", f'{mount}; exec "$@"', "sh", sys.executable]
    wrapper = job.directory / "python"
    wrapper.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in start) + ' "$@"\n')
    wrapper.chmod(0o755)
    return smspec_process(*words, python=str(wrapper), cwd=job.directory, timeout=120, env=environment())


@pytest.fixture
def job(tmp_path):
    job = LocalJob(tmp_path / "job")
    script(job, "import argparse\nargparse.ArgumentParser().parse_args()\n")
    return job


@needs_mounts
@pytest.mark.parametrize("room", [8, 12, 16, 64], ids="{} kB".format)
def test_check_on_a_full_temporary_disk_exits_3(job, tmp_path, room):
    (tmp_path / "full").mkdir()
    mount = f"mount -t tmpfs -o size={room}k none {tmp_path}/full; export TMPDIR={tmp_path}/full"
    done = smspec_after(job, mount, "check")
    assert done.status == 3, done.err
    assert "no space left on device" in done.err and "internal error" not in done.err, done.err


@needs_mounts
def test_engine_without_proc_is_refused(job):
    """Without it, what a script leaves in a session of its own could not be found."""
    done = smspec_after(job, "mount -t tmpfs none /proc", "run", "--engine", "process")
    assert (done.status, "the engine `process` needs /proc" in done.err) == (3, True), done.err
    assert not job.run_directory.exists()


def ignore_children():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def block_signals():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, signal.SIGTERM])


def started(job, deafen, *words):
    return smspec_process(*words, cwd=job.directory, preexec_fn=deafen, timeout=120, env=environment())


ENGINES = ["process", pytest.param("namespace", marks=pytest.mark.needs_namespaces)]


@pytest.mark.parametrize("deafen", [ignore_children, block_signals], ids=["ignored", "blocked"])
@pytest.mark.parametrize("engine", ENGINES)
def test_failure_is_seen_where_signals_are_not_heard(job, deafen, engine):
    """With an ignored SIGCHLD, the kernel forgets how a process has ended, and Python takes that for a success."""
    script(job, "import signal, sys\nprint(signal.pthread_sigmask(signal.SIG_BLOCK, ()))\nsys.exit(7)\n")
    done = started(job, deafen, "run", "--engine", engine)
    assert done.status == 1, done.err
    assert "algo-1 | set()" in done.err, done.err


@pytest.mark.parametrize("deafen", [ignore_children, block_signals], ids=["ignored", "blocked"])
def test_check_proves_a_start_where_signals_are_not_heard(job, deafen):
    assert started(job, deafen, "check").status == 0
    script(job, "import argparse\nargparse.ArgumentParser().parse_arg()\n")
    done = started(job, deafen, "check")
    assert (done.status, "SM549" in done.out + done.err) == (1, True), done.out + done.err


@pytest.mark.parametrize("count", [1, 3000])
def test_copy_that_fails_has_one_sentence(tmp_path, capsys, count):
    """Python's own words are the list of all files that it could not copy."""
    (tmp_path / "from").mkdir()
    for number in range(count):
        (tmp_path / "from" / f"link {number}").symlink_to("nowhere")
    with pytest.raises(shutil.Error) as failed:
        shutil.copytree(tmp_path / "from", tmp_path / "to")
    assert report_error(failed.value, Console(sys.stdout, sys.stderr, {})) == 3
    line = capsys.readouterr().err
    assert line.startswith(f"smspec: `{tmp_path}/to/link ") and len(line) < 1000 and "No such file" in line


def test_missing_thread_is_reported_as_a_limit(capsys):
    assert report_error(RuntimeError("can't start new thread"), Console(sys.stdout, sys.stderr, {})) == 3
    assert capsys.readouterr().err.startswith("smspec: cannot start a thread: the limit of processes")
