"""Measure the compiler relative to an idle Python, so that figures hold on other machines.

    python tests/benchmarks/compile.py [ROUNDS]

Whole processes, cold interpreter and warm disk, are compared with ``python -c pass`` of the same interpreter, in turns,
so that a busy machine slows both; shown are the medians of the ratios of the turns, and the ratio of the least
processor times, which depends least on what else runs. `build` replaces its last output, and `init` writes to a new
directory in each turn. In one process, which remembers what unchanged files show: how often one spec is read from its
files and compiled in a second, and specs that differ in their names and share a source.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
SPEC = str(ROOT / "specs" / "script-mode" / "job.yaml")
ROUNDS = 31
SECONDS = 3.0

COMMANDS = {
    "smspec validate": ["validate", SPEC],
    "… with an unknown key": ["validate", "{unknown}"],
    "… with an unknown value": ["validate", "{value}"],
    "… without a required key": ["validate", "{missing}"],
    "smspec render --api-json": ["render", "--api-json", SPEC],
    "smspec render --dockerfile": ["render", "--dockerfile", SPEC],
    "smspec build": ["build", SPEC, "--output", "{build}"],
    "smspec init": ["init", "{new}"],
    "smspec --version": ["--version"],
}
ERRORS = {
    "unknown": ("stopping:", "stoping:"),
    "value": ("output:", "input_mode: Piep\noutput:"),
    "missing": ("role:", "# role:"),
}
"""What is replaced in the spec."""

AWS = ["aws", "sagemaker", "create-training-job", "--generate-cli-skeleton"]


def seconds(command: list[str]) -> tuple[float, float]:
    """Return how long a process takes from start to end, and its processor time."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    nowhere = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    start = time.perf_counter()
    number = os.posix_spawnp(command[0], command, environment, file_actions=nowhere)
    _, status, used = os.wait4(number, 0)
    taken = time.perf_counter() - start
    assert os.waitstatus_to_exitcode(status) in (0, 1), command
    return taken, used.ru_utime + used.ru_stime


def compared(command: list[str], yardstick: list[str], rounds: int, made: str = "") -> str:
    """Return the ratios to a yardstick, over turns, as they are shown; ``made`` is removed before each turn."""
    turns = []
    for _ in range(rounds + 1):
        if made:
            shutil.rmtree(made, ignore_errors=True)
        turns.append((seconds(command), seconds(yardstick)))
    del turns[0]  # compiled files were written, and the disk is warm
    ratio = statistics.median(taken / given for (taken, _), (given, _) in turns)
    used = min(used for (_, used), _ in turns) / min(used for _, (_, used) in turns)
    taken, given = (statistics.median(turn[side][0] for turn in turns) * 1000 for side in (0, 1))
    return f"{ratio:6.1f} x   processor {used:5.1f} x   ({taken:.0f} ms, pass {given:.0f} ms)"


def faulty_specs(directory: str) -> dict[str, str]:
    """Write specs with one error each next to the source and return their paths."""
    paths = {}
    for name, (old, new) in ERRORS.items():
        shutil.copytree(Path(SPEC).parent, Path(directory, name))
        path = Path(directory, name, "job.yaml")
        path.write_text(Path(SPEC).read_text().replace(f"\n{old}", f"\n{new}"))
        paths[name] = str(path)
    return paths


def variants(directory: str, count: int = 200) -> list[str]:
    """Write specs that differ in their names, next to one source, and return their paths."""
    shutil.copytree(Path(SPEC).parent, Path(directory, "variants"))
    text = Path(SPEC).read_text()
    paths = [Path(directory, "variants", f"variant-{number}.yaml") for number in range(count)]
    for path in paths:
        path.write_text(text.replace("\nname: ", f"\nname: {path.stem}-", 1))
    return [str(path) for path in paths]


def specs_a_second(specs: list[str]) -> float:
    """Return how many specs one process reads and compiles in a second, in turn, on one core."""
    from smspec.pipeline.compilation import Compiled, compile_spec
    from smspec.pipeline.inputs import gather

    assert isinstance(compile_spec(gather(specs[0])), Compiled)
    count, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        compile_spec(gather(specs[count % len(specs)]))
        count += 1
    return count / (time.process_time() - start)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    yardstick = [sys.executable, "-c", "pass"]
    version = sys.version.split()[0]
    print(f"{rounds} turns with `python -c pass`, CPython {version}, load {os.getloadavg()[0]:.1f}, {SPEC}")
    with tempfile.TemporaryDirectory() as directory:
        faulty = faulty_specs(directory)
        for name, words in COMMANDS.items():
            made = {"build": f"{directory}/build", "new": f"{directory}/new"}
            command = [sys.executable, "-m", "smspec", *(word.format(**faulty, **made) for word in words)]
            print(f"{name:28} {compared(command, yardstick, rounds, made['new'])}")
        of_variants = specs_a_second(variants(directory))
    if shutil.which(AWS[0]):
        print(f"{'aws … --generate-cli-skeleton':28} {compared(AWS, yardstick, min(rounds, 7))}")
    print(f"{'one spec, in one process':28} {specs_a_second([SPEC]):6.0f} a second, read and compiled, one core")
    print(f"{'its variants':28} {of_variants:6.0f} a second")


if __name__ == "__main__":
    main()
