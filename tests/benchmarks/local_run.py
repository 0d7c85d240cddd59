"""Measure what `smspec run` adds to a script: to its start, to what it prints, and to its data.

    python tests/benchmarks/local_run.py [start|logs|data …] [--pairs 5] [--megabytes 200]

start  a script that does nothing, on one host and on four, next to the bare script
logs   a script that prints lines of 100 bytes, and one that prints lines of 10 MB, next to the same script piped into
       `cat`. Both write to a terminal that a process reads; with `-q`, and for its peer, nothing is shown
data   a File and a FastFile channel of 1 GB, and one of 20,000 small files, next to the same job without the channel

Runs take turns with their peers; shown are the medians of the ratios of time, and of processor time of all processes,
which a busy machine distorts less. Hosts run in namespaces where this machine allows them.
"""

from __future__ import annotations

import argparse
import os
import pty
import statistics
import subprocess
import sys
import tempfile
import time
import tty
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

LINES = """
line = "step %07d loss=0.123456 accuracy=0.987654 lr=0.001 images/s=1234.5 epoch=3".ljust(101, ".")
for number in range({megabytes} * 10_000):
    print(line % number)
"""
LONG_LINES = """
line = "0123456789" * 1_000_000
for _ in range({megabytes} // 10):
    print(line)
"""
SPEC = """
smspec: v1
name: {name}
role: arn:aws:iam::111122223333:role/SageMakerTraining
region: us-west-2
image: {{base: "python:{version}"}}
source: src/
entry_point: {{script: {script}}}
hosts: {{instance_type: ml.m5.large, count: {hosts}, volume: 10GB}}
output: s3://models/{name}/
{channels}
"""
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
# A container has it, and so has a host.
ENVIRONMENT["PYTHONUNBUFFERED"] = "1"


class Cost(NamedTuple):
    """The seconds that a command took, and the processor time of all its processes."""

    wall: float
    cpu: float


def cost(command: list[str], directory: Path, *, shows: bool = False) -> Cost:
    """Run a command, on a terminal if it ``shows`` something; return what it took. Raises `SystemExit`."""
    output, reader = subprocess.DEVNULL, None
    if shows:
        terminal, output = pty.openpty()
        tty.setraw(output)  # as long as the lines that are written
        reader = subprocess.Popen(["cat"], stdin=terminal, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(terminal)
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=directory, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=output, stderr=output
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = status
    if reader is not None:
        os.close(output)
        reader.wait()
    if status:
        raise SystemExit(f"{' '.join(command)}: wait status {status}")
    return Cost(wall, usage.ru_utime + usage.ru_stime)


class Jobs:
    """Specs in one directory, and the scripts that they run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "src").mkdir()

    def script(self, name: str, text: str) -> None:
        (self.directory / "src" / f"{name}.py").write_text(text)

    def runs(self, script: str, *options: str, hosts: int = 1, channels: str = "", name: str = "") -> list[str]:
        """Return the command that runs a script as a job."""
        name = name or script
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        spec = SPEC.format(name=name, version=version, script=f"{script}.py", hosts=hosts, channels=channels)
        (self.directory / f"{name}.yaml").write_text(spec)
        return [sys.executable, "-m", "smspec", "run", f"{name}.yaml", *options]

    def bare(self, script: str) -> list[str]:
        return [sys.executable, f"src/{script}.py"]

    def piped(self, script: str) -> list[str]:
        return ["sh", "-c", f'"{sys.executable}" src/{script}.py | cat']


def compare(title: str, pairs: int, ours: Callable[[], Cost], peer: Callable[[], Cost]) -> None:
    """Print how many times the cost of its peer a run has."""
    ours()  # files are compiled, the disk is warm
    both = [(ours(), peer()) for _ in range(pairs)]
    wall = statistics.median(run.wall / other.wall for run, other in both)
    cpu = statistics.median(run.cpu / other.cpu for run, other in both)
    run, other = (
        Cost(*(statistics.median(each) for each in zip(*costs, strict=True))) for costs in zip(*both, strict=True)
    )
    print(
        f"{title:38} {wall:6.2f} x time {cpu:6.2f} x processor time   "
        f"({run.wall:.2f} s and {run.cpu:.2f} s; {other.wall:.3f} s and {other.cpu:.3f} s)",
        flush=True,
    )


def starts(jobs: Jobs, pairs: int) -> None:
    jobs.script("nothing", "pass\n")
    for hosts in (1, 4):
        command = jobs.runs("nothing", hosts=hosts, name=f"nothing-{hosts}")
        compare(
            f"trivial job, {hosts} host{'s' if hosts > 1 else ''}",
            pairs,
            lambda command=command: cost(command, jobs.directory),
            lambda: cost(jobs.bare("nothing"), jobs.directory),
        )


def logs(jobs: Jobs, pairs: int, megabytes: int) -> None:
    kinds = {
        "lines": (f"{megabytes} MB in lines of 100 bytes", LINES),
        "long": (f"{megabytes} MB in lines of 10 MB", LONG_LINES),
    }
    for script, (title, text) in kinds.items():
        jobs.script(script, text.format(megabytes=megabytes))
        for option, shows in (("", True), ("-q", False)):
            command = jobs.runs(script, *filter(None, [option]))
            compare(
                f"{title}, {option or 'terminal'}",
                pairs,
                lambda command=command, shows=shows: cost(command, jobs.directory, shows=shows),
                lambda script=script, shows=shows: cost(jobs.piped(script), jobs.directory, shows=shows),
            )


def data(jobs: Jobs, pairs: int) -> None:
    """Compare jobs with a channel to one without; the script reads the names, as a job does first."""
    jobs.script("names", "import os\nfor _ in os.walk(os.environ.get('SM_INPUT_DIR', '.')): pass\n")
    big, small = jobs.directory / "big", jobs.directory / "small"
    big.mkdir()
    for part in range(8):
        with open(big / f"part-{part}", "wb") as file:
            for _ in range(128):
                file.write(bytes(1 << 20))
    small.mkdir()
    for number in range(20_000):
        (small / f"{number:05}.jpg").write_bytes(b"x" * 1000)
    without = jobs.runs("names", name="without")
    for title, name in (("1 GB in 8 files", "big"), ("20,000 files", "small")):
        for mode in ("File", "FastFile"):
            channel = f"channels: {{train: {{s3: 's3://data/{name}/', local: {name}, input_mode: {mode}}}}}"
            command = jobs.runs("names", channels=channel, name=f"{name}-{mode.lower()}")
            compare(
                f"{mode} channel of {title}",
                pairs,
                lambda command=command: cost(command, jobs.directory),
                lambda: cost(without, jobs.directory),
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="start, logs, data")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=200)
    arguments = parser.parse_args()
    parts = arguments.parts or ["start", "logs", "data"]
    for part in parts:
        with tempfile.TemporaryDirectory() as directory:
            jobs = Jobs(Path(directory))
            if part == "start":
                starts(jobs, arguments.pairs)
            elif part == "logs":
                logs(jobs, arguments.pairs, arguments.megabytes)
            else:
                data(jobs, arguments.pairs)


if __name__ == "__main__":
    main()
