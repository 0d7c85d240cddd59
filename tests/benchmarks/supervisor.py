"""Measure the supervisor as process 1, next to tini and dumb-init where they are installed.

    python tests/benchmarks/supervisor.py [--stops 200] [--signals 2000]

Every supervisor runs the same programs. Latencies are from kill() on the supervisor to the program that
waits for it, by one clock; `deaf` is how long a process 1 would lose a signal after its start, for want of a handler.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parents[1]
RUNTIME = TESTS.parent / "runtime"
sys.path.insert(0, str(TESTS))

from support.runtime.container import ORPHANS  # noqa: E402

PROGRAM = [sys.executable, "-IS", "-c"]

STAMPS = """
import os, signal, time
awaited = {signal.SIGTERM, signal.SIGUSR1}
signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
os.write(1, b"ready\\n")
number = 0
while number != signal.SIGTERM:
    number = signal.sigwait(awaited)
    os.write(1, b"%r\\n" % time.monotonic())
"""
STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for detached in (False, True):
    if os.fork() == 0:
        if detached:
            os.setsid()
        break
print(os.getpid(), flush=True)
time.sleep(60)
"""
NOT_ENDING = {"SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGWINCH"}


class Bench(NamedTuple):
    """A supervisor as a command, with the options that make it signal groups and write_spec orphans."""

    name: str
    words: list[str]

    def start(self, script: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*self.words, *PROGRAM, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def status(self, *words: str) -> int:
        return subprocess.run([*self.words, *words], stderr=subprocess.DEVNULL).returncode


def benches(scratch: Path) -> list[Bench]:
    ours = scratch / "smspec"
    ours.write_text(f"#!{sys.executable} -IS\n{(TESTS / 'support/runtime/init_stand_in.py').read_text()}")
    ours.chmod(0o755)
    found = [Bench("smspec", [str(ours)])]
    for name, *options in (("tini", "-s", "-g", "--"), ("dumb-init",)):
        path = shutil.which(name)
        if path is not None:
            found.append(Bench(name, [path, *options]))
    return found


def line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def stop_latencies(bench: Bench, count: int) -> list[float]:
    """Start and stop programs one after the other; return how long SIGTERM took, infinity where it never came."""
    found = []
    for _ in range(count):
        with bench.start(STAMPS) as process:
            line(process)
            sent = time.monotonic()
            process.send_signal(signal.SIGTERM)
            found.append(float(line(process) or "inf") - sent)
    return found


def forward_latencies(bench: Bench, count: int) -> list[float]:
    with bench.start(STAMPS) as process:
        line(process)
        found = []
        for _ in range(count):
            sent = time.monotonic()
            process.send_signal(signal.SIGUSR1)
            found.append(float(line(process)) - sent)
        process.send_signal(signal.SIGTERM)
        line(process)
    return found


def orphans(bench: Bench) -> tuple[int, float]:
    """Return how many of a thousand orphans are still zombies, and how long they took to go."""
    with bench.start(ORPHANS) as process:
        left, seconds = line(process).split()
    return int(left), float(seconds)


def statuses(bench: Bench) -> int:
    return sum(bench.status("sh", "-c", f"exit {status}") == status for status in range(256))


def signal_statuses(bench: Bench) -> tuple[int, int]:
    """Return for how many of the signals that end a process the status is 128 + n, and how many there are."""
    ending = [number for number in signal.Signals if number < 32 and number.name not in NOT_ENDING]
    quiet = "ulimit -c 0; "
    return sum(bench.status("sh", "-c", f"{quiet}kill -{n:d} $$") == 128 + n for n in ending), len(ending)


def is_there(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[:1]
    except OSError:
        return False


def tree(grace: float) -> tuple[int, float]:
    """Return how many of three processes that ignore SIGTERM outlive the whole runtime, and its end after the grace."""
    with tempfile.TemporaryDirectory() as base:
        for directory in ("code", "input/config", "output"):
            (Path(base) / directory).mkdir(parents=True)
        (Path(base) / "code/train.py").write_text(STUBBORN)
        (Path(base) / "input/config/resourceconfig.json").write_text('{"current_host": "algo-1", "hosts": ["algo-1"]}')
        for name in ("inputdataconfig", "hyperparameters"):
            (Path(base) / f"input/config/{name}.json").write_text("{}")
        variables = {"PYTHONPATH": str(RUNTIME), "SAGEMAKER_BASE_DIR": base, "SAGEMAKER_PROGRAM": "train.py"}
        variables["SMSPEC_STOP_GRACE"] = str(grace)
        with subprocess.Popen(
            [sys.executable, "-m", "smspec_runtime", "train"],
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            pids = [int(line(process)) for _ in range(3)]
            sent = time.monotonic()
            process.terminate()
            process.wait()
            return sum(map(is_there, pids)), time.monotonic() - sent - grace


def deaf(words: list[str], environ: dict[str, str]) -> float:
    """Return how long after its start a process has neither a handler for SIGTERM nor holds it."""
    begun = time.monotonic()
    with subprocess.Popen(
        words, env=environ, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while process.poll() is None:
            for entry in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                name, _, value = entry.partition(":")
                if name in ("SigBlk", "SigCgt") and int(value, 16) >> signal.SIGTERM - 1 & 1:
                    process.kill()
                    return time.monotonic() - begun
    return deaf(words, environ)  # It had ended before we looked again: the machine has other work too.


def deafness(base: str, rounds: int = 15) -> list[float]:
    """Return the medians for the runtime, for it without an early hold, and for a program's first statement."""
    environ = {**os.environ, "PYTHONPATH": str(RUNTIME), "SAGEMAKER_BASE_DIR": base}
    kinds = [
        ["-m", "smspec_runtime", "train"],
        ["-c", "from smspec_runtime.main import main; main([])"],
        ["-c", "import _signal; _signal.pthread_sigmask(0, [15]); input()"],
    ]
    found = [[deaf([sys.executable, *kind], environ) for kind in kinds] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*found, strict=True)]


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stops", type=int, default=200)
    parser.add_argument("--signals", type=int, default=2000)
    arguments = parser.parse_args()
    os.environ["RUNTIME_UNDER_TEST"] = str(RUNTIME)
    columns = ["stops seen in 1 s", "worst", "forward p50", "p99", "1,000 orphans", "exit codes", "128 + n"]
    print(f"{'':10}" + "".join(f"{column:>19}" for column in columns))
    with tempfile.TemporaryDirectory() as scratch:
        for bench in benches(Path(scratch)):
            stops = stop_latencies(bench, arguments.stops)
            forwards = forward_latencies(bench, arguments.signals)
            left, seconds = orphans(bench)
            right, ending = signal_statuses(bench)
            cells = [
                f"{sum(latency <= 1 for latency in stops)}/{len(stops)}",
                f"{max(stops) * 1000:.1f} ms",
                f"{percentile(forwards, 0.5) * 1000:.2f} ms",
                f"{percentile(forwards, 0.99) * 1000:.2f} ms",
                f"{left} left, {seconds * 1000:.0f} ms",
                f"{statuses(bench)}/256",
                f"{right}/{ending}",
            ]
            print(f"{bench.name:10}" + "".join(f"{cell:>19}" for cell in cells), flush=True)
    left, late = tree(grace=1.0)
    print(f"three processes that ignore SIGTERM: {left} left, all over {late * 1000:.0f} ms after the grace")
    with tempfile.TemporaryDirectory() as base:
        ours, late_hold, python = (f"{seconds * 1000:.1f} ms" for seconds in deafness(base))
    print(f"deaf after the start: {ours}; {late_hold} without holding signals early; Python's own start takes {python}")


if __name__ == "__main__":
    main()
