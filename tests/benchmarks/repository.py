"""Measure `smspec validate DIR` on a large repository of specs, and what it costs to check one change there.

    python tests/benchmarks/repository.py [SPECS] [ROUNDS]

A thousand jobs by default, in ten teams: two layers of bases, every fourth job with two overlays, forty sources of
thirteen files that jobs share. Shown are medians, and the processor time of all processes: on a busy machine that is
what can be compared. A second row holds the command to one processor. The goal is 1.5 seconds on two. Variables such as
PYTHONDONTWRITEBYTECODE are left out: with it, every run would compile four hundred modules.

Then one spec is changed, and `validate --changed` and `diff --base` take turns with `validate`. Shown are the medians
of the ratios: the goals are 0.12 and 0.15. With 5,000 specs, each should take at most twice as long as with 1,000.
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

SPECS, ROUNDS = 1000, 5
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


def ratios_of_a_change(directory: Path, processors: set[int], rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Commit all specs, change one, and return each command's ratios to `validate`, of time and processor time."""
    shutil.rmtree(directory / ".git")
    commit(repository(directory))
    with open(next(directory.glob("jobs/*/job-0015/job.yaml")), "a", encoding="utf-8") as file:
        file.write("retries: 2\n")
    ratios: dict[str, list[tuple[float, float]]] = {}
    for name, command in OF_A_CHANGE.items():
        measured(str(directory), processors, command)
        for _ in range(rounds):
            of_one, of_all = measured(str(directory), processors, command), measured(str(directory), processors)
            ratios.setdefault(name, []).append((of_one[0] / of_all[0], of_one[1] / of_all[1]))
    return ratios


def main() -> None:
    specs = int(sys.argv[1]) if len(sys.argv) > 1 else SPECS
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    there = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as directory:
        write_repository(Path(directory), specs)
        measured(directory, set(there))  # compiled files are written, the disk is warm
        of_a_change = ratios_of_a_change(Path(directory), set(there[:2]), rounds)
        turns = [[measured(directory, set(there[:count])) for count in (2, 1)] for _ in range(rounds)]
    print(f"median of {rounds} turns, {specs} specs, CPython {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}")
    for name, taken in zip(("two processors", "one processor"), zip(*turns, strict=True), strict=True):
        wall, used = (statistics.median(column) for column in zip(*taken, strict=True))
        print(f"{name:20} {wall:6.2f} s   ({used:.2f} s of processor time)")
    for name, ratios in of_a_change.items():
        wall, used = (statistics.median(column) for column in zip(*ratios, strict=True))
        print(f"{name:20} {wall:6.2f} x validate   ({used:.2f} x its processor time)")


if __name__ == "__main__":
    main()
