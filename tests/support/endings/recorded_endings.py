"""Record the standard error of failing programs with all installed interpreters.

`PYTHONPATH=tests python -m support.endings.recorded_endings DIRECTORY [NAME …]`: each interpreter lies below DIRECTORY,
as `3.8/bin/python` … `torch/bin/python`, the last one with torch, pydantic, tqdm, rich, typer and hydra.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from support.endings.ending import CODE, RECORDED, Ending
from support.endings.endings_of_other_programs import INSTALLED, LAUNCHED, OTHERS
from support.endings.endings_of_python import PYTHON
from support.endings.endings_of_workers import LIBRARIES, WORKERS
from support.endings.endings_with_a_message import LAST_WORDS

ENDINGS = [*PYTHON, *LAST_WORDS, *WORKERS, *LIBRARIES, *OTHERS, *LAUNCHED, *INSTALLED]


def record(ending: Ending, interpreters: Path) -> tuple[bytes, int]:
    """Run a program. Return what it wrote to standard error, without this machine's paths, and how it ended."""
    python = interpreters / ending.by / "bin/python"
    if not python.exists():
        python = interpreters / "3.11/bin/python"
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, ending.file)
        file.write_text(ending.program)
        if ending.beside:
            name, _, text = ending.beside.partition(":")
            Path(directory, name).parent.mkdir(exist_ok=True)
            Path(directory, name).write_text(text)
        words = ending.words.format(file=file, dir=directory, python=python, bin=python.parent)
        variables = {"PATH": f"{python.parent}:{os.environ['PATH']}", "HOME": directory, "LANG": "C.UTF-8"}
        own = {name: value for name, value in os.environ.items() if name.startswith(("RUSTUP_", "CARGO_"))}
        rust = {"RUSTUP_HOME": os.path.expanduser("~/.rustup"), "CARGO_HOME": os.path.expanduser("~/.cargo"), **own}
        done = subprocess.run(
            ["sh", "-c", "exec " + words],
            cwd=directory,
            env={**variables, **rust, "OMP_NUM_THREADS": "1", "TERM": "dumb"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        shown = done.stderr.replace(directory.encode(), CODE.encode())
        for place in (
            python.parents[1].resolve(),
            python.parents[1],
            python.resolve().parents[1],
            Path(sys.base_prefix),
        ):
            shown = shown.replace(str(place).encode(), b"/usr/local")
        return shown, done.returncode


def main(interpreters: str, *names: str) -> None:
    """Record these, or all."""
    statuses_file = RECORDED / "statuses.json"
    statuses = json.loads(statuses_file.read_text()) if statuses_file.exists() else {}
    for ending in ENDINGS:
        if not names or ending.name in names:
            stderr, statuses[ending.name] = record(ending, Path(interpreters))
            (RECORDED / f"{ending.name}.stderr").write_bytes(stderr)
            print(ending.name, statuses[ending.name])
    statuses_file.write_text(json.dumps(statuses, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
