"""A failing program and its correct failure reason."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

RECORDED = Path(__file__).parents[2] / "runtime/endings"
CODE = "/opt/ml/code"
"""What the directory of a program is called in what is kept."""


@dataclass(frozen=True)
class Ending:
    """``by``: an interpreter of DIRECTORY or `name: command line`. ``{file}`` is the program, ``{dir}`` where it is."""

    name: str
    reason: str
    program: str
    by: str = "3.11"
    words: str = "{python} {file}"
    file: str = "train.py"
    command: str = "python"
    beside: str = ""

    @property
    def stderr(self) -> bytes:
        return (RECORDED / f"{self.name}.stderr").read_bytes()

    @property
    def ended(self) -> tuple[int, int]:
        """Return status, as a shell has it, and signal."""
        status = json.loads((RECORDED / "statuses.json").read_text())[self.name]
        return (128 - status, -status) if status < 0 else (status, 0)


def ending(name: str, reason: str, program: str, **how: str) -> Ending:
    return Ending(name, dedent(reason).strip(), dedent(program).lstrip("\n"), **how)
