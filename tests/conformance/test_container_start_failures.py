"""Scripts that cannot be started, and tools that hang."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.runtime.container import RUNTIME, Container, wait_until


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


def failing(call, error, program=None):
    """The words under which a call of the system fails; for one program only, if it is named."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("calls that fail need strace")
    only = [] if program is None else ["-P", program]
    words = [strace, "-f", "-qq", "-o", os.devnull, *only, "-e", f"inject={call}:error={error}"]
    if subprocess.run([strace, "-o", os.devnull, "true"], capture_output=True).returncode:
        pytest.skip("tracing is not allowed here")
    return words


@pytest.fixture
def one_process():
    """The words that start a process in a control group that may have no other."""
    group = Path("/sys/fs/cgroup/pids") / f"smspec-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / "pids.max").write_text("1")
    except OSError:
        pytest.skip("no control group for processes can be made here")
    yield ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(group)]
    wait_until(lambda: not (group / "cgroup.procs").read_text())
    group.rmdir()


def test_process_limit_is_reported(container, one_process):
    """The limit of processes is reached before the program is started."""
    done = container.run_script("print('ran')", prefix=one_process)
    assert (done.status, done.stdout) == (126, b"")
    cause = f"{container.python}: cannot start a process: Resource temporarily unavailable"
    assert done.failure.startswith(f"ExecuteUserScriptError: {cause}\nExitCode 126\n")


def test_missing_memory_for_a_process_is_reported(container):
    """fork() fails."""
    done = container.run_script("print('ran')", prefix=failing("/^(clone3?|v?fork)$", "ENOMEM"))
    assert (done.status, done.stdout) == (126, b"")
    cause = f"{container.python}: cannot start a process: Cannot allocate memory"
    assert done.failure.startswith(f"ExecuteUserScriptError: {cause}\nExitCode 126\n")


def test_missing_memory_for_the_script_is_reported(container):
    """execve() fails."""
    program = container.write("program", "#!/bin/sh\necho ran\n", 0o755)
    plan = {"kind": "command", "command": [str(program)], "args_style": "none"}
    done = container.run(plan=plan, prefix=failing("execve", "ENOMEM", str(program)))
    assert (done.status, done.stdout) == (126, b"")
    assert done.failure.startswith(f"ExecuteUserScriptError: {program}: Cannot allocate memory\nExitCode 126\n")


def test_too_long_arguments_are_reported(container):
    """The kernel takes 128 KiB for one word."""
    plan = {"kind": "command", "command": ["echo"], "arguments": ["x" * 200_000], "args_style": "none"}
    done = container.run(plan=plan)
    assert (done.status, done.stdout) == (126, b"")
    assert done.failure.startswith("ExecuteUserScriptError: echo: Argument list too long\nExitCode 126\n")
    assert len(done.failure) <= 1024


def test_missing_working_directory_is_reported():
    """The program is not at fault, and not named."""
    script = f"""
import sys
sys.path.insert(0, {str(RUNTIME)!r})
from smspec_runtime.supervisor import Supervisor
outcome = Supervisor().run(["/bin/true"], {{}}, "/no/such")
print(outcome.status, outcome.error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "126 /no/such: no such directory\n", done.stderr


@pytest.mark.parametrize(
    "hanging",
    [
        "sleep 60",
        "trap '' TERM; sleep 60 & sleep 60; sleep 60",
        "setsid sleep 60 & wait",
        "while :; do echo endless; done",
        "exec >&-; sleep 60",
    ],
)
def test_hanging_tool_is_killed(hanging):
    """A driver that does not answer keeps nvidia-smi waiting for ever; so would its job have been."""
    script = f"""
import json, os, sys
sys.path.insert(0, {str(RUNTIME)!r})
from smspec_runtime.supervisor import Supervisor
supervisor = Supervisor()
supervisor.start()
outcome = supervisor.capture(["sh", "-c", {hanging!r}], dict(os.environ), 0.5)
after = supervisor.run(["sh", "-c", "exit 3"], dict(os.environ), "/")
print(json.dumps([outcome.killed, outcome.status, after.status]))
"""
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [True, 137, 3]
    assert time.monotonic() - begun < 20
