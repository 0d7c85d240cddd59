"""Signals, orphans, and the duties of process 1."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from support.runtime.container import ORPHANS, RUNTIME, STOP_WHILE_LOADING, Container, is_running, wait_until

CATCHER = """
import os, signal, sys, time
def handler(number, frame):
    os.write(1, b"%d\\n" % number)
    if number == signal.SIGTERM:
        sys.exit(0)
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    signal.signal(number, handler)
print("ready", flush=True)
while True:
    time.sleep(0.1)  # A signal that comes right before a sleep is heard after it.
"""

STANDARD = (1 << 31) - 1
"""Signals 1 to 31. The next two are the C library's own, and its posix_spawn, which make uses, leaves one ignored."""


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


@pytest.fixture
def pid_namespace():
    """The words that make the runtime process 1."""
    prefix = ["unshare", "--pid", "--fork", "--mount-proc"]
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("process 1 needs root and unshare")
    if subprocess.run([*prefix, "true"], capture_output=True).returncode:
        pytest.skip("unshare --pid is not allowed here")
    return prefix


def first_line(process):
    line = process.stdout.readline().decode().strip()
    assert line, process.stderr.read()
    return line


def finish(container, process):
    stdout, stderr = process.communicate(timeout=60)
    return container.done(process.returncode, stdout, stderr)


def test_sigterm_reaches_the_script(any_python, tmp_path):
    """StopTrainingJob sends SIGTERM, then SIGKILL 120 seconds later: a program that saves and returns is a success."""
    container = Container(tmp_path / "ml", any_python)
    script = """
import os, signal, sys, time
def save(number, frame):
    os.write(1, b"saved\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
while True:
    time.sleep(0.1)
"""
    with container.start_script(script) as process:
        assert first_line(process) == "ready"
        sent = time.monotonic()
        process.terminate()
        done = finish(container, process)
    assert (done.status, done.stdout, done.failure, done.succeeded) == (0, b"saved\n", None, True)
    assert time.monotonic() - sent < 20


def test_every_catchable_signal_is_forwarded(container):
    """All but SIGKILL, SIGSTOP, SIGCHLD, and those of a terminal's background."""
    skipped = {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGTTIN, signal.SIGTTOU, signal.SIGTERM}
    with container.start_script(CATCHER) as process:
        assert first_line(process) == "ready"
        for number in sorted(signal.valid_signals() - skipped):
            process.send_signal(number)
            assert first_line(process) == str(int(number))
        process.terminate()
        assert first_line(process) == str(int(signal.SIGTERM))
        assert finish(container, process).status == 0


def test_process_group_gets_the_signal(container):
    """A shell does not forward signals, but its children must receive them."""
    container.write("code/child.py", CATCHER)
    container.write("code/run.sh", f"#!/bin/sh\n{container.python} child.py\necho unreachable\n")
    with container.start(environ={"SAGEMAKER_PROGRAM": "run.sh"}) as process:
        assert first_line(process) == "ready"
        process.terminate()
        done = finish(container, process)
    assert done.stdout == b"15\n"
    assert done.status == 143
    assert done.failure.startswith("ExecuteUserScriptError: SIGTERM: terminated\nExitCode 143\n")


def test_children_of_a_shell_can_save_their_work(container):
    """A shell dies of SIGTERM at once; its child has the grace that is left."""
    container.write(
        "code/child.py", CATCHER.replace("sys.exit(0)", "time.sleep(2); os.write(1, b'saved\\n'); sys.exit(0)")
    )
    container.write("code/run.sh", f"#!/bin/sh\n{container.python} child.py\n")
    with container.start(environ={"SAGEMAKER_PROGRAM": "run.sh"}) as process:
        assert first_line(process) == "ready"
        process.terminate()
        done = finish(container, process)
    assert done.stdout == b"15\nsaved\n"


@pytest.mark.parametrize("stopped", [True, False])
@pytest.mark.parametrize("detached", [True, False])
def test_each_process_gets_one_sigterm(container, detached, stopped):
    """Also one in a session of its own, once the program has ended: a second one often means `at once`."""
    script = f"""
import os, signal, sys, time
read, write = os.pipe()
if os.fork() == 0:
    if {detached}:
        os.setsid()
    got = []
    signal.signal(signal.SIGTERM, lambda *_: got.append(os.write(1, b"TERM\\n")))
    os.write(write, b".")
    ends = time.monotonic() + 30
    while time.monotonic() < ends and not got:
        time.sleep(0.01)
    ends = time.monotonic() + 0.9  # for a second one
    while time.monotonic() < ends:
        time.sleep(0.01)
    os._exit(0)
os.read(read, 1)
print("ready", flush=True)
if {stopped}:
    time.sleep(60)
"""
    with container.start_script(script) as process:
        assert first_line(process) == "ready"
        if stopped:
            process.terminate()
        done = finish(container, process)
    assert (done.status, done.stdout) == (143 if stopped else 0, b"TERM\n")


def test_remaining_processes_are_killed_after_the_grace(container):
    """The grace is 110 s of SageMaker's 120; here it is one second."""
    script = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
print(os.getpid(), flush=True) if child == 0 else time.sleep(0.1)
if child:
    print(os.getpid(), flush=True)
time.sleep(60)
"""
    with container.start_script(script, environ={"SMSPEC_STOP_GRACE": "1"}) as process:
        pids = [int(first_line(process)), int(first_line(process))]
        sent = time.monotonic()
        process.terminate()
        done = finish(container, process)
        took = time.monotonic() - sent
    assert 0.9 < took < 20
    assert done.status == 137
    assert done.failure.startswith("ExecuteUserScriptError: SIGKILL: still running after SIGTERM and the grace\n")
    assert not any(is_running(pid) for pid in pids)


def test_no_process_outlives_the_script(container):
    """In the background, in a session of its own, ignoring SIGTERM: when the job is over, it is over."""
    script = """
import os, signal, sys, time
read, write = os.pipe()
for detached in (False, True):
    if os.fork() == 0:
        if detached:
            os.setsid()
            if os.fork():
                os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.write(write, b"%d\\n" % os.getpid())
        time.sleep(60)
pids = b""
while pids.count(b"\\n") < 2:
    pids += os.read(read, 100)
sys.stdout.write(pids.decode())
"""
    done = container.run_script(script)
    pids = [int(line) for line in done.stdout.split()]
    assert done.status == 0 and done.succeeded
    assert len(pids) == 2
    assert not any(is_running(pid) for pid in pids)


def test_orphans_are_reaped(container):
    """Orphans become children of the runtime; a thousand of them leave no zombie."""
    done = container.run_script(ORPHANS)
    left, seconds = done.stdout.split()
    assert (done.status, left) == (0, b"0")
    assert float(seconds) < 20


def test_stop_before_the_script_has_a_separate_reason(container):
    """SIGTERM while requirements are installed: the job ends at once, and the reason says that nothing ran."""
    container.write("code/pip.py", "import time; print('installing', flush=True); time.sleep(60)")
    container.write("code/requirements.txt", "# nothing")
    script = "print('never')"
    environ = {"PYTHONPATH": f"{container.base}/pip:{container.environ()['PYTHONPATH']}"}
    container.write("pip/pip.py", "import time; print('installing', flush=True); time.sleep(60)")
    with container.start_script(script, environ=environ) as process:
        assert first_line(process) == "installing"
        process.terminate()
        done = finish(container, process)
    assert (done.status, done.stdout) == (143, b"")
    assert done.failure == "ClientError: stopped before the program was started\nExitCode 143"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stop_just_before_the_start_reaches_the_script(number):
    """It is too late to say that the program was not started, and too early for it to hear: the stop has to wait."""
    script = f"""
import os, sys
sys.path.insert(0, {str(RUNTIME)!r})
from smspec_runtime.supervisor import Supervisor
supervisor, pipe = Supervisor(), os.pipe
supervisor.start()
def stop_first():
    os.pipe = pipe  # what `run` begins with
    os.kill(os.getpid(), {int(number)})
    return pipe()
os.pipe = stop_first
outcome = supervisor.run(["sleep", "30"], dict(os.environ), "/")
print(outcome.signal, os.pipe is pipe)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=20)
    assert done.stdout == f"{int(number)} True\n", done.stderr


def test_script_gets_default_signal_handlers(container):
    """Python ignores SIGPIPE and SIGXFSZ for itself; its children must not inherit that, nor a blocked signal."""
    container.write("code/run.sh", "#!/bin/sh\ngrep -E '^Sig(Blk|Ign)' /proc/self/status\n")
    done = container.run(environ={"SAGEMAKER_PROGRAM": "run.sh"})
    assert [int(line.split()[1], 16) & STANDARD for line in done.stdout.splitlines()] == [0, 0]


def test_ignored_signal_stays_ignored(container):
    """What `nohup` and a background shell have set is the caller's choice."""
    container.write("code/run.sh", "#!/bin/sh\ngrep -E '^SigIgn' /proc/self/status\n")
    ignore = ["sh", "-c", 'trap "" HUP INT; exec "$@"', "sh"]
    done = container.run(environ={"SAGEMAKER_PROGRAM": "run.sh"}, prefix=ignore)
    ignored = int(done.stdout.split()[1], 16) & STANDARD
    assert ignored == 1 << signal.SIGHUP - 1 | 1 << signal.SIGINT - 1


def test_process_1_forwards_sigterm(any_python, tmp_path, pid_namespace):
    """The kernel drops signals that process 1 does not handle."""
    container = Container(tmp_path / "ml", any_python)
    script = "import os\nprint(os.getppid(), flush=True)\n" + CATCHER
    with container.start_script(script, prefix=pid_namespace) as process:
        assert first_line(process) == "1"
        assert first_line(process) == "ready"
        children = f"/proc/{process.pid}/task/{process.pid}/children"
        runtime = int(wait_until(lambda: open(children).read().split())[0])
        os.kill(runtime, signal.SIGTERM)
        done = finish(container, process)
    assert (done.status, done.stdout, done.succeeded) == (0, b"15\n", True)


def test_process_1_reaps_orphans_and_keeps_the_status(container, pid_namespace):
    """Five orphans are five zombies under the toolkit."""
    script = """
import os, sys, time
for _ in range(5):
    if os.fork() == 0:
        if os.fork() == 0:
            time.sleep(0.1)
        os._exit(0)
    os.wait()
def others():
    return [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in (1, os.getpid())]
deadline = time.monotonic() + 10
while others() and time.monotonic() < deadline:
    time.sleep(0.01)
print(others(), flush=True)
sys.exit(7)
"""
    done = container.run_script(script, prefix=pid_namespace)
    assert (done.status, done.stdout) == (7, b"[]\n")


def test_sigint_is_not_a_success(container):
    """Ctrl-C on a local run ends the program by SIGINT: 130."""
    script = "import signal, time\nsignal.signal(2, signal.SIG_DFL)\nprint('ready', flush=True)\ntime.sleep(60)"
    with container.start_script(script) as process:
        assert first_line(process) == "ready"
        process.send_signal(signal.SIGINT)
        done = finish(container, process)
    assert (done.status, done.succeeded) == (130, False)
    assert done.failure.startswith("ExecuteUserScriptError: SIGINT: interrupt\nExitCode 130\n")


def test_signals_are_forwarded_within_milliseconds(container):
    """From kill() on the runtime to the handler of the program; the median, for the machine has other work too."""
    script = """
import os, signal, time
signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b"%r\\n" % time.monotonic()))
os.write(1, b"ready\\n")
while True:
    time.sleep(0.1)  # A signal that comes right before a sleep is heard after it.
"""
    latencies = []
    with container.start_script(script) as process:
        assert first_line(process) == "ready"
        for _ in range(200):
            sent = time.monotonic()
            process.send_signal(signal.SIGUSR1)
            latencies.append(float(first_line(process)) - sent)
        process.terminate()
        finish(container, process)
    assert sorted(latencies)[100] < 0.01


def test_sigterm_while_loading_the_runtime_ends_it(any_python, tmp_path, pid_namespace):
    """As process 1, from the first moment that Python runs our code: the kernel would drop it."""
    container = Container(tmp_path / "ml", any_python)
    container.write("slow/sitecustomize.py", STOP_WHILE_LOADING)
    environ = {"PYTHONPATH": f"{container.base}/slow:{container.environ()['PYTHONPATH']}"}
    done = container.run_script("print('never')", prefix=pid_namespace, environ=environ)
    assert (done.status, done.stdout) == (143, b""), done.stderr
    assert done.failure == "ClientError: stopped before the program was started\nExitCode 143"
