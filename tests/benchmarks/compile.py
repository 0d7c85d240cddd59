"""Measure the compiler relative to an idle Python, so that figures hold on other machines.

    python tests/benchmarks/compile.py [ROUNDS]

Whole processes, cold interpreter and warm disk, are compared with ``python -c pass`` of the same interpreter, in turns,
so that a busy machine slows both; shown are the medians of the ratios of the turns, and the ratio of the least
processor times, which depends least on what else runs. In one process: specs a second, each read from its files and
compiled anew.
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


def compared(command: list[str], yardstick: list[str], rounds: int) -> str:
    """Return the ratios to a yardstick, over turns, as they are shown."""
    seconds(command)  # compiled files are written, the disk is warm
    turns = [(seconds(command), seconds(yardstick)) for _ in range(rounds)]
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


def specs_a_second() -> float:
    """Return how many specs one process reads and compiles in a second, on one core."""
    from smspec.pipeline.compilation import Compiled, compile_spec
    from smspec.pipeline.inputs import gather

    assert isinstance(compile_spec(gather(SPEC)), Compiled)
    count, start = 0, time.process_time()
    while time.process_time() - start < SECONDS:
        compile_spec(gather(SPEC))
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
            command = [sys.executable, "-m", "smspec", *(word.format(**faulty) for word in words)]
            print(f"{name:28} {compared(command, yardstick, rounds)}")
    if shutil.which(AWS[0]):
        print(f"{'aws … --generate-cli-skeleton':28} {compared(AWS, yardstick, min(rounds, 7))}")
    print(f"{'in one process':28} {specs_a_second():6.0f} specs a second, read and compiled, one core")


if __name__ == "__main__":
    main()
