"""Measure `smspec validate DIR` on a large repository of specs, and what it costs to check one change there.

    python tests/benchmarks/repository.py [SPECS] [ROUNDS]

A thousand jobs by default, in ten teams: two layers of bases, every fourth job with two overlays, forty sources of
thirteen files that jobs share. Shown are medians, and the processor time of all processes: on a busy machine that is
what can be compared. A second row holds the command to one processor. The goal is 1.5 seconds on two. Variables such as
PYTHONDONTWRITEBYTECODE are left out: with it, every run would compile four hundred modules.

Then one spec is changed, and `validate --changed` and `diff --base` take turns with `validate`. Shown are the medians
of the ratios: the goals are 0.12 and 0.15. In a repository of five times as many specs, each takes turns with itself in
the smaller one: the goal is 2. Their memory is the most that one process has.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS))

from support.git_repository import commit, repository  # noqa: E402
from support.spec.spec_repository import write_repository  # noqa: E402

SPECS, LARGER, ROUNDS = 1000, 5, 5
SMSPEC = [sys.executable, "-m", "smspec"]
COMMAND = [*SMSPEC, "validate", "."]
OF_A_CHANGE = {
    "validate --changed": [*SMSPEC, "validate", "--changed", "HEAD", "."],
    "diff --base": [*SMSPEC, "diff", "--base", "HEAD", "."],
}
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def measured(directory: str, processors: set[int], command: Sequence[str] = COMMAND) -> tuple[float, float]:
    """Return how long a command takes and how much processor time it and its workers use, in seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command,
        cwd=directory,
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, processors),
    )
    assert done.returncode in (0, 1), command  # 1: `diff` finds the change
    taken, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def memory_of(directory: str, command: Sequence[str]) -> int:
    """Return the most memory that a command has, in MB."""
    child = subprocess.Popen(
        command, cwd=directory, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, used = os.wait4(child.pid, 0)
    return used.ru_maxrss // 1024


def change_one(directory: Path, specs: int) -> str:
    """Write a repository of specs, commit all, change one, and return its path."""
    write_repository(directory, specs)
    shutil.rmtree(directory / ".git")
    commit(repository(directory))
    with open(next(directory.glob("jobs/*/job-0015/job.yaml")), "a", encoding="utf-8") as file:
        file.write("retries: 2\n")
    return str(directory)


Ratios = list[tuple[float, float]]
"""Of the time, and of the processor time, in each turn."""


def turns(
    one: tuple[str, Sequence[str]], other: tuple[str, Sequence[str]], processors: set[int], rounds: int
) -> Ratios:
    """Let two commands in their directories take turns, and return the ratios of the first to the second."""
    measured(one[0], processors, one[1])
    pairs = [(measured(one[0], processors, one[1]), measured(other[0], processors, other[1])) for _ in range(rounds)]
    return [(first[0] / second[0], first[1] / second[1]) for first, second in pairs]


def show_a_change(small: str, large: str, processors: set[int], rounds: int) -> None:
    """Print what one change costs, against a check of all specs, and in the larger repository."""
    for name, command in OF_A_CHANGE.items():
        for ratios, peer in (
            (turns((small, command), (small, COMMAND), processors, rounds), "validate ."),
            (turns((large, command), (small, command), processors, rounds), f"itself, {LARGER} x the specs"),
        ):
            wall, used = (statistics.median(column) for column in zip(*ratios, strict=True))
            print(f"{name:20} {wall:6.2f} x {peer:24} ({used:.2f} x its processor time)")
        print(f"{name:20} {memory_of(small, command):4} MB, and {memory_of(large, command)} MB")


def main() -> None:
    specs = int(sys.argv[1]) if len(sys.argv) > 1 else SPECS
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    there = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as home:
        small, large = (
            change_one(Path(home, name), specs * times) for name, times in (("small", 1), ("large", LARGER))
        )
        measured(small, set(there))  # compiled files are written, the disk is warm
        taken = [[measured(small, set(there[:count])) for count in (2, 1)] for _ in range(rounds)]
        print(
            f"median of {rounds} turns, {specs} specs, CPython {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}"
        )
        for name, turn in zip(("two processors", "one processor"), zip(*taken, strict=True), strict=True):
            wall, used = (statistics.median(column) for column in zip(*turn, strict=True))
            print(f"{name:20} {wall:6.2f} s   ({used:.2f} s of processor time)")
        show_a_change(small, large, set(there[:2]), rounds)


if __name__ == "__main__":
    main()
