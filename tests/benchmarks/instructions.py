"""Compare the compile path with that of another commit by the instructions that it takes; fail above 3 % more.

    python tests/benchmarks/instructions.py [BASE]

Instructions, unlike times, are nearly the same on a busy machine. They are counted by ``perf stat`` where the processor
lets it, or by valgrind; without both there is nothing to compare. BASE is by default where the branch left
``origin/main``, or else the commit before. Both compile the same spec, which the working tree has, with the same Python
and packages, and the same order of hashes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST = 1.03
PACKAGES = ("compiler", "runtime", "schemas")

AGAIN = """\
import sys
from smspec.pipeline.compilation import compile_spec
from smspec.pipeline.inputs import gather
for _ in range(10):
    compile_spec(gather(sys.argv[1]))
"""
PATHS = {
    "validate": ["-m", "smspec", "validate", "{spec}"],
    "render --api-json": ["-m", "smspec", "render", "--api-json", "{spec}"],
    "render --dockerfile": ["-m", "smspec", "render", "--dockerfile", "{spec}"],
    "compiled ten times": ["-c", AGAIN, "{spec}"],
}

Count = Callable[[Sequence[str], Mapping[str, str]], int]


def counted_by_perf(command: Sequence[str], environment: Mapping[str, str]) -> int:
    counting = ["perf", "stat", "-x,", "-e", "instructions:u", *command]
    done = subprocess.run(counting, env=environment, capture_output=True, text=True, check=True)
    found = re.search(r"^(\d+),", done.stderr, re.MULTILINE)
    if found is None:
        raise OSError("perf counts no instructions here")
    return int(found[1])


def counted_by_valgrind(command: Sequence[str], environment: Mapping[str, str]) -> int:
    counting = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    done = subprocess.run(counting, env=environment, capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise OSError("valgrind has counted nothing")
    return int(found[1])


def counter() -> tuple[str, Count] | None:
    """Return what counts instructions here, with its name; None if nothing does."""
    for name, count in (("perf", counted_by_perf), ("valgrind", counted_by_valgrind)):
        try:
            count(["true"], os.environ)
        except (OSError, subprocess.CalledProcessError):
            continue
        return name, count
    return None


def base_commit() -> str:
    """Return where this branch left the main one; on the main one itself, the commit before."""
    head = _git("rev-parse", "HEAD")
    for branch in ("origin/main", "main"):
        try:
            found = _git("merge-base", "HEAD", branch)
        except subprocess.CalledProcessError:
            continue
        if found != head:
            return found
    return _git("rev-parse", "HEAD^")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def counts(tree: Path, spec: Path, count: Count) -> dict[str, int]:
    """Return the instructions of each path with the packages of a tree, compiled before."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(str(tree / name) for name in PACKAGES)}
    found = {}
    for name, words in PATHS.items():
        command = [sys.executable, *(word.format(spec=spec) for word in words)]
        subprocess.run(command, env=environment, capture_output=True, check=True)  # writes the compiled modules
        found[name] = count(command, environment)
    return found


def slower(before: Mapping[str, int], after: Mapping[str, int]) -> list[str]:
    """Return the paths that take more instructions than they may."""
    return [name for name, count in after.items() if count > before[name] * MOST]


def main() -> int:
    found = counter()
    if found is None:
        print("skipped: neither perf nor valgrind counts instructions here")
        return 0
    tool, count = found
    try:
        base = sys.argv[1] if len(sys.argv) > 1 else base_commit()
    except subprocess.CalledProcessError:
        print("skipped: there is no commit to compare with")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        spec = Path(directory, "job", "job.yaml")
        shutil.copytree(ROOT / "specs/script-mode", spec.parent, ignore=shutil.ignore_patterns("build", "run"))
        archive = subprocess.run(["git", "archive", base, *PACKAGES], cwd=ROOT, capture_output=True, check=True).stdout
        # Both are copies: a repository of git around one of them would be searched.
        subprocess.run(["tar", "-x", "-C", _made(directory, "before")], input=archive, check=True)
        for name in PACKAGES:
            shutil.copytree(ROOT / name, Path(directory, "after", name), ignore=shutil.ignore_patterns("__pycache__"))
        before, after = (counts(Path(directory, name), spec, count) for name in ("before", "after"))
    print(f"millions of instructions by {tool}, {base[:12]} and the working tree")
    for name in after:
        print(f"{name:20} {before[name] / 1e6:7.1f} {after[name] / 1e6:7.1f}  {after[name] / before[name]:.3f}")
    too_slow = slower(before, after)
    if too_slow:
        print(f"more than {MOST:.2f} times the instructions: {', '.join(too_slow)}", file=sys.stderr)
    return 1 if too_slow else 0


def _made(directory: str, name: str) -> str:
    made = Path(directory, name)
    made.mkdir()
    return str(made)


if __name__ == "__main__":
    sys.exit(main())
