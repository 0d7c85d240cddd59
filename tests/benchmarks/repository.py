"""Measure `smspec validate DIR` on a large repository of specs.

    python tests/benchmarks/repository.py [SPECS] [ROUNDS]

A thousand jobs by default, in ten teams: two layers of bases, every fourth job with two overlays, forty sources of
thirteen files that jobs share. Shown are medians, and the processor time of all processes: on a busy machine that is
what can be compared. A second row holds the command to one processor. The goal is 1.5 seconds on two. Variables such as
PYTHONDONTWRITEBYTECODE are left out: with it, every run would compile four hundred modules.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))

from support.spec.spec_repository import write_repository  # noqa: E402

SPECS, ROUNDS = 1000, 5
COMMAND = [sys.executable, "-m", "smspec", "validate", "."]
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def measured(directory: str, processors: set[int]) -> tuple[float, float]:
    """Return how long the command takes and how much processor time it and its workers use, in seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        COMMAND,
        cwd=directory,
        env=ENVIRONMENT,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, processors),
    )
    taken, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    specs = int(sys.argv[1]) if len(sys.argv) > 1 else SPECS
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    there = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as directory:
        write_repository(Path(directory), specs)
        measured(directory, set(there))  # compiled files are written, the disk is warm
        turns = [[measured(directory, set(there[:count])) for count in (2, 1)] for _ in range(rounds)]
    print(f"median of {rounds} turns, {specs} specs, CPython {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}")
    for name, taken in zip(("two processors", "one processor"), zip(*turns, strict=True), strict=True):
        wall, used = (statistics.median(column) for column in zip(*taken, strict=True))
        print(f"{name:16} {wall:6.2f} s   ({used:.2f} s of processor time)")


if __name__ == "__main__":
    main()
