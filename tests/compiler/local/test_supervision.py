"""Hosts as real processes: the end of a job and its remaining processes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import pytest

from smspec.local.engines.engine import HostCommand, HostProcess
from smspec.local.running import supervision
from smspec.local.running.events import HostsInterrupted, Remark
from smspec.local.running.request import Interruption, Moment, RunInterrupted, Signals
from smspec.local.running.supervision import Supervision, Verdict
from smspec.local.watch.machine_processes import Leftovers
from support.local.listener import Listener

PATIENT = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (print("saving"), sys.exit(0)))
print("running", flush=True)
open(f"running-{os.getpid()}", "w").close()
while True:
    time.sleep(0.1)  # A signal that comes right before a sleep is heard after it.
"""
STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("running", flush=True)
open(f"running-{os.getpid()}", "w").close()
time.sleep(60)
"""
STARTING = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as the kernel does for a first process without a handler
time.sleep(1)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("running", flush=True)
while True:
    time.sleep(0.1)
"""
FAILING = """
import glob, time
while len(glob.glob("running-*")) < OTHERS:
    time.sleep(0.01)
raise SystemExit(7)
"""
"""Fails as soon as the other hosts have their handlers."""


@pytest.fixture
def supervise(tmp_path):
    """Run one Python program per host to the end of the job; return (verdict, listener, hosts).

    ``running``: of how many hosts the handlers are there before the supervision begins.
    """

    def run(*programs: str, grace: float = 20, kill: list[int] | None = None, running: int = 0, **options):
        listener = Listener()
        with Signals() as signals, Leftovers():
            signals.note()
            hosts = [
                HostProcess(
                    f"algo-{number}",
                    HostCommand(words=[sys.executable, "-c", program], environment=os.environ, directory=str(tmp_path)),
                    str(tmp_path / f"algo-{number}.log"),
                )
                for number, program in enumerate(programs, 1)
            ]
            deadline = time.monotonic() + 20
            while len([*tmp_path.glob("running-*")]) < running and time.monotonic() < deadline:
                time.sleep(0.01)
            options.setdefault("max_runtime", None)
            supervision = Supervision(hosts, [], listener, signals, grace=grace, **options)
            if kill:
                threading.Thread(target=_kill_when_running, args=(listener, len(hosts), kill), daemon=True).start()
            return supervision.run(), listener, hosts

    return run


def _kill_when_running(listener: Listener, hosts: int, numbers: list[int]) -> None:
    deadline = time.monotonic() + 20
    while sum("running" in line for line in listener.lines) < hosts and time.monotonic() < deadline:
        time.sleep(0.01)
    for number in numbers:
        os.kill(os.getpid(), number)
        time.sleep(0.3)


def test_job_completes_when_all_hosts_do(supervise):
    verdict, listener, hosts = supervise("print('one')", "import time; time.sleep(0.3); print('two')")
    assert verdict == Verdict(job_status=0)
    assert listener.lines == ["algo-1: one", "algo-2: two"]
    assert [host.exit_status for host in hosts] == [0, 0]


def test_hosts_that_run_on_are_named(supervise, monkeypatch):
    """A worker that waits for ever, `ray start --block`, costs until max_runtime."""
    monkeypatch.setattr(supervision, "_LOG_SECONDS", 0.1)
    monkeypatch.setattr(supervision, "_LONE_SECONDS", 0.1)
    _, listener, _ = supervise("", "import time; time.sleep(2)", "import time; time.sleep(2)")
    (remark,) = listener.of(Remark)
    assert (
        remark.text == "algo-1 has ended well, but algo-2, algo-3 still run: SageMaker bills all hosts to the last end"
    )
    _, listener, _ = supervise("import time; time.sleep(1)", "import time; time.sleep(1)")
    assert listener.of(Remark) == []


def test_starting_host_gets_sigterm_when_it_listens(supervise):
    """Until it has a handler, the kernel discards the signal, and the job would last until SIGKILL."""
    verdict, _, hosts = supervise(STARTING, FAILING.replace("OTHERS", "0"))
    assert (verdict.failed, hosts[0].exit_status) == ("algo-2", 0)


class _LateHost(HostProcess):
    """A host that is seen to have ended only after another one, as the client of a container may end late."""

    other: HostProcess

    def ended(self) -> bool:
        return self.other.exit_status is not None and super().ended()


def test_host_that_is_seen_to_fail_last_fails_the_job(tmp_path):
    listener = Listener()
    with Signals() as signals, Leftovers():
        late, other = (
            kind(
                name,
                HostCommand(words=[sys.executable, "-c", program], environment=os.environ, directory=str(tmp_path)),
                str(tmp_path / name),
            )
            for kind, name, program in (
                (_LateHost, "algo-1", "raise SystemExit(7)"),
                (HostProcess, "algo-2", "import time; time.sleep(0.5)"),
            )
        )
        late.other = other
        verdict = Supervision([late, other], [], listener, signals, grace=20, max_runtime=None).run()
    assert (verdict.failed, verdict.job_status) == ("algo-1", 7)


def test_failed_host_ends_the_job(supervise):
    """The status of the job is that of the first host that failed; the others are stopped."""
    started = time.monotonic()
    verdict, listener, hosts = supervise(PATIENT, FAILING.replace("OTHERS", "2"), PATIENT)
    assert (verdict.failed, verdict.job_status) == ("algo-2", 7)
    assert [host.exit_status for host in hosts] == [0, 7, 0]
    assert {"algo-1: saving", "algo-3: saving"} <= set(listener.lines)
    assert time.monotonic() - started < 15


def test_signal_exits_128_plus_its_number(supervise):
    verdict, _, _ = supervise("import os; os.kill(os.getpid(), 9)")
    assert (verdict.failed, verdict.job_status) == ("algo-1", 137)


def test_host_ignoring_sigterm_is_killed_after_the_grace(supervise):
    """SIGTERM, then SIGKILL after the grace."""
    verdict, _, hosts = supervise(STUBBORN, FAILING.replace("OTHERS", "1"), grace=0.5)
    assert verdict.failed == "algo-2"
    assert hosts[0].exit_status == 137


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signal_to_smspec_stops_every_host(supervise, number):
    verdict, listener, hosts = supervise(PATIENT, PATIENT, kill=[number])
    assert verdict == Verdict(signal=number)
    assert {"algo-1: saving", "algo-2: saving"} <= set(listener.lines)
    assert [host.exit_status for host in hosts] == [0, 0]


def test_second_signal_kills(supervise):
    verdict, _, hosts = supervise(STUBBORN, kill=[signal.SIGINT, signal.SIGINT])
    assert verdict == Verdict(signal=signal.SIGINT)
    assert hosts[0].exit_status == 137


def test_max_runtime_stops_the_job(supervise):
    """MaxRuntimeInSeconds: SageMaker sends SIGTERM when it is over."""
    verdict, listener, _ = supervise(PATIENT, max_runtime=0.1, running=1)
    assert verdict == Verdict(overran=True)
    assert "algo-1: saving" in listener.lines


def test_log_is_stored_raw_and_shown_in_lines(supervise, tmp_path):
    raw = b"a\\xff\\n\\r10%\\r50%\\r100%\\nmore\\n\\nno end"
    _, listener, _ = supervise(f"import os; os.write(1, b'{raw.decode()}')")
    assert (tmp_path / "algo-1.log").read_bytes() == b"a\xff\n\r10%\r50%\r100%\nmore\n\nno end"
    assert listener.lines == ["algo-1: a\ufffd", "algo-1: 100%", "algo-1: more", "algo-1: ", "algo-1: no end"]


def test_lines_of_the_two_streams_stay_apart(supervise, tmp_path):
    """A program begins a line on one stream, and ends it after others of the other one."""
    pause = "import os, time; w = lambda to, data: (os.write(to, data), time.sleep(0.05)); "
    parts = (
        (1, "final: "),
        (2, " 50%|█"),
        (1, "0.25\n"),
        (2, "|\nTraceback\n"),
        (1, "x" * 70_000),
        (2, "late\n"),
        (1, "y"),
    )
    _, listener, _ = supervise(pause + "; ".join(f"w({to}, {text.encode()!r})" for to, text in parts))
    assert sorted(line[len("algo-1: ") :] for line in listener.lines if len(line) < 100) == [
        " 50%|█|",
        "Traceback",
        "final: 0.25",
        "late",
        "y",
    ]
    lines = (tmp_path / "algo-1.log").read_text().split("\n")
    assert sorted(lines) == sorted(["final: 0.25", " 50%|█|", "Traceback", "x" * 70_000, "late", "y"])


def test_endless_line_is_shown_in_pieces(supervise):
    _, listener, _ = supervise("import sys; sys.stdout.write('x' * 300_000)")
    assert sum(len(line) - len("algo-1: ") for line in listener.lines) == 300_000
    assert len(listener.lines) > 1


def test_daemon_holding_the_log_does_not_delay_the_end(supervise):
    """A daemon that a script leaves behind is ended with the job."""
    program = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(60)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "print('done')\n"
    )
    started, before = time.monotonic(), _children()
    verdict, listener, _ = supervise(program)
    assert verdict == Verdict(job_status=0)
    assert listener.lines == ["algo-1: done"]
    assert time.monotonic() - started < 15
    assert _children() <= before


def _children() -> set[str]:
    """Return the children of this process; other tests of it may have some that still run."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                if int(file.read().rpartition(")")[2].split()[1]) == os.getpid():
                    found.add(name)
        except OSError:
            pass
    return found


def test_start_error_is_reported(tmp_path):
    log = str(tmp_path / "log")
    command = HostCommand(words=[str(tmp_path / "no-python")], environment={}, directory=str(tmp_path))
    host = HostProcess("algo-1", command, log)
    while not host.ended():
        time.sleep(0.01)
    lines = [line for text in host.read(host.descriptors[1]) or () for line in text.lines]
    assert (host.exit_status, lines) == (127, [f"cannot start `{tmp_path}/no-python`: No such file or directory"])
    host.close()


def test_signal_between_steps_interrupts_at_once():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RunInterrupted) as interrupted, Signals():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
    assert interrupted.value.number == signal.SIGINT
    assert signal.getsignal(signal.SIGINT) is before


def test_interruption_comes_at_its_event(supervise):
    """SIGTERM after the second line of all hosts; what a script saves then is in the log."""
    interruption = Interruption(moment=Moment(after="line", count=2), grace=20)
    verdict, listener, _ = supervise(PATIENT, PATIENT, interruption=interruption)
    assert (verdict.is_interrupted, verdict.failed) == (True, None)
    assert sorted(listener.lines) == ["algo-1: running", "algo-1: saving", "algo-2: running", "algo-2: saving"]
    assert [event.is_loss for event in listener.of(HostsInterrupted)] == [False]


def test_lost_hosts_save_nothing(supervise):
    interruption = Interruption(moment=Moment(after="line", count=1, delay=0.1), grace=20, is_loss=True)
    verdict, listener, hosts = supervise(PATIENT, interruption=interruption)
    assert (verdict.is_interrupted, listener.lines) == (True, ["algo-1: running"])
    assert hosts[0].exit_status == 128 + signal.SIGKILL


def test_interrupted_host_is_killed_after_its_grace(supervise):
    interruption = Interruption(moment=Moment(after="line", count=1), grace=0.3)
    started = time.monotonic()
    assert supervise(STUBBORN, interruption=interruption)[0].is_interrupted
    assert time.monotonic() - started < 20


def test_interruption_after_the_end_does_not_come(supervise):
    interruption = Interruption(moment=Moment(after="line", count=5), grace=20)
    verdict, listener, _ = supervise("print('done')", interruption=interruption)
    assert (verdict, listener.of(HostsInterrupted)) == (Verdict(job_status=0), [])
