"""How long the compiler takes, in ratios, which hold on other machines too.

    python tests/benchmarks/compile.py [ROUNDS]

Whole processes, cold interpreter and warm disk, are compared with ``python -c pass`` of the same interpreter, in turns,
so that a busy machine slows both; shown is the median of the ratios of the turns. In one process: specs a second,
each read from its files and compiled anew.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
SPEC = str(ROOT / "specs" / "script-mode" / "job.yaml")
ROUNDS = 31
SECONDS = 3.0

COMMANDS = {
    "smspec validate": ["validate", SPEC],
    "smspec render --api-json": ["render", "--api-json", SPEC],
    "smspec render --dockerfile": ["render", "--dockerfile", SPEC],
    "smspec --version": ["--version"],
}
AWS = ["aws", "sagemaker", "create-training-job", "--generate-cli-skeleton"]


def seconds(command: list[str]) -> float:
    """Return how long a process takes from start to end."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    start = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def compared(command: list[str], yardstick: list[str], rounds: int) -> tuple[float, float, float]:
    """Return the median ratio, and the medians of both in seconds, over turns."""
    seconds(command)  # compiled files are written, the disk is warm
    turns = [(seconds(command), seconds(yardstick)) for _ in range(rounds)]
    return (
        statistics.median(taken / given for taken, given in turns),
        statistics.median(taken for taken, _ in turns),
        statistics.median(given for _, given in turns),
    )


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
    print(f"median of {rounds} turns with `python -c pass`, CPython {sys.version.split()[0]}, {SPEC}")
    for name, words in COMMANDS.items():
        ratio, taken, given = compared([sys.executable, "-m", "smspec", *words], yardstick, rounds)
        print(f"{name:28} {ratio:6.1f} x   ({taken * 1000:.0f} ms, pass {given * 1000:.0f} ms)")
    if shutil.which(AWS[0]):
        ratio, taken, given = compared(AWS, yardstick, min(rounds, 7))
        print(
            f"{'aws … --generate-cli-skeleton':28} {ratio:6.1f} x   ({taken * 1000:.0f} ms, pass {given * 1000:.0f} ms)"
        )
    print(f"{'in one process':28} {specs_a_second():6.0f} specs a second, read and compiled, one core")


if __name__ == "__main__":
    main()
