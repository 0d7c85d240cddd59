"""Executions of state machines by the program in `state_machines.py`."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ANTLR = "antlr4-python3-runtime==4.13.2"
"""What moto's parser of the States Language needs. Hydra requires 4.9, so no environment has both."""


class MachineProcess:
    """Runs state machines, one at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(
        self, definition: dict[str, Any], *script: Any, input: str = "{}", times: int = 1, **behavior: Any
    ) -> dict[str, Any]:
        """Return the executions of a machine, the requests of the jobs, and how many jobs were alive at most.

        ``script`` and ``behavior``: see `ScriptedSageMaker`.
        """
        wanted = {
            "definition": definition, "script": script, "input": input, "times": times, "behavior": behavior
        }  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(wanted) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the interpreter has ended"
        found: dict[str, Any] = json.loads(answer)
        return found


def installed_antlr(directory: Path) -> str:
    """Return why the parser that moto needs cannot be installed; empty: it is in ``directory``."""
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(directory), ANTLR]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    return "" if done.returncode == 0 else f"{ANTLR} cannot be installed: {done.stderr.strip()[-200:]}"


@contextlib.contextmanager
def machine_process(packages: Path) -> Iterator[MachineProcess]:
    """Start the program with the packages of a directory, and end it."""
    program = Path(__file__).with_name("state_machines.py")
    process = subprocess.Popen(
        [sys.executable, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(packages)},
    )
    try:
        yield MachineProcess(process)
    finally:
        process.communicate()
