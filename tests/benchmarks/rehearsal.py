"""Measure what `smspec rehearse` finds: bugs in programs that resume, and alarms about programs without a bug.

    python tests/benchmarks/rehearsal.py [WORD …] [--seeds 1] [--only right|bugs] [--first] [--parallel 4]

A word selects the programs and bugs whose names contain it. Each is rehearsed once per seed; a bug is found if a
promise about interruptions is broken. Programs sleep for most of their time. Those with PyTorch or scikit-learn are
left out unless `--all-libraries` is given, because importing them takes longer than everything else. With `--first`,
the promises after `spot` are rehearsed only if it is not broken.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from smspec.rehearsal.promises import PROMISES  # noqa: E402
from support.rehearsal.bugs import BUGS  # noqa: E402
from support.rehearsal.programs import PROGRAMS, Program  # noqa: E402

INTERRUPTIONS = ("spot", "lost-host", "progress", "half-written-checkpoint")
RIGHT = "right"


@dataclass(frozen=True)
class Case:
    """A program, with a bug or without; ``source`` is the text that runs."""

    program: Program
    bug: str
    source: str


@dataclass(frozen=True)
class Result:
    """``broken``: promise → what was seen; ``fault``: why there is no result."""

    broken: dict[str, str]
    kept: tuple[str, ...]
    fault: str
    seconds: float


def cases(words: Sequence[str], only: str | None, libraries: Sequence[str]) -> list[Case]:
    """Return the selected programs without a bug, then those with one."""
    right = [Case(program, RIGHT, program.source) for program in PROGRAMS]
    wrong = [Case(bug.program, bug.name, bug.source) for bug in BUGS]
    chosen = [*(right if only != "bugs" else ()), *(wrong if only != "right" else ())]
    return [
        case
        for case in chosen
        if case.program.library in libraries
        and (not words or any(word in f"{case.program.name} {case.bug}" for word in words))
    ]


def rehearse(case: Case, seed: int, is_first_enough: bool) -> Result:
    """Rehearse a program once."""
    names = [promise.name for promise in PROMISES if promise.name in INTERRUPTIONS]
    if not is_first_enough:
        return rehearse_promises(case, seed, names)
    first = rehearse_promises(case, seed, ["spot"])
    if first.broken or first.fault:
        return first
    rest = rehearse_promises(case, seed, [name for name in names if name != "spot"])
    return replace(rest, kept=(*first.kept, *rest.kept), seconds=first.seconds + rest.seconds)


def rehearse_promises(case: Case, seed: int, names: Sequence[str]) -> Result:
    """Rehearse some promises of a program."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rehearsal-") as directory:
        case.program.write_job(Path(directory, "job"), case.source)
        ended = subprocess.run(
            [
                *(sys.executable, "-m", "smspec", "rehearse", "job.yaml", "--python", sys.executable, "--quiet"),
                *("--seed", str(seed), "--format", "json", "--output", os.path.join(directory, "out")),
                *(word for name in names for word in ("--only", name)),
            ],
            cwd=Path(directory, "job"),
            env={**os.environ, "SMSPEC_STOP_GRACE": "3", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    seconds = time.monotonic() - began
    try:
        report = json.loads(ended.stdout)
        promises = report["promises"]
    except ValueError:
        fault = f"exit status {ended.returncode}: {ended.stderr.strip()[-300:]}"
        return Result(broken={}, kept=(), fault=fault, seconds=seconds)
    return Result(
        broken={promise["name"]: promise["seen"][0] for promise in promises if promise["state"] == "broken"},
        kept=tuple(promise["name"] for promise in promises if promise["state"] == "kept"),
        fault=report["failure"] or "",
        seconds=seconds,
    )


def report(case: Case, results: Sequence[Result]) -> None:
    """Print how often a promise was broken, which ones, and what was seen first."""
    broken = [result for result in results if result.broken]
    promises = sorted({name for result in broken for name in result.broken})
    faults = [result.fault for result in results if result.fault]
    seconds = sum(result.seconds for result in results) / len(results)
    print(
        f"{case.program.name:22} {case.bug:58} {len(broken)} of {len(results)} {seconds:5.1f} s  {', '.join(promises)}",
        flush=True,
    )
    if case.bug == RIGHT:
        for result in broken:
            for name, seen in result.broken.items():
                print(f"    {name}: {seen}")
    for fault in faults:
        print(f"    {fault}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD", help="parts of names of programs and bugs (default: all)")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="rehearsals of each program")
    parser.add_argument("--first-seed", type=int, default=1, metavar="N")
    parser.add_argument("--only", choices=("right", "bugs"), help="only programs without a bug, or with one")
    parser.add_argument("--parallel", type=int, default=4, metavar="N", help="rehearsals at a time")
    parser.add_argument("--all-libraries", action="store_true", help="also programs with PyTorch and scikit-learn")
    parser.add_argument("--first", action="store_true", help="rehearse the other promises only if `spot` is not broken")
    arguments = parser.parse_args()
    libraries = ("plain", "numpy", "sklearn", "torch") if arguments.all_libraries else ("plain", "numpy")
    chosen = cases(arguments.words, arguments.only, libraries)
    for library in sorted({case.program.missing for case in chosen} - {None}):
        print(f"programs with {library} are left out: it is not installed")
    chosen = [case for case in chosen if case.program.missing is None]
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    found = {True: 0, False: 0}
    total = {True: 0, False: 0}
    with ThreadPoolExecutor(arguments.parallel) as pool:
        pending = [(case, [pool.submit(rehearse, case, seed, arguments.first) for seed in seeds]) for case in chosen]
        for case, futures in pending:
            results = [future.result() for future in futures]
            report(case, results)
            is_right = case.bug == RIGHT
            found[is_right] += sum(bool(result.broken) for result in results)
            total[is_right] += len(results)
    print()
    if total[False]:
        print(f"bugs found             {found[False]} of {total[False]}")
    if total[True]:
        print(f"alarms about no bug    {found[True]} of {total[True]}")


if __name__ == "__main__":
    main()
