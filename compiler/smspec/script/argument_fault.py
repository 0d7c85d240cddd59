"""What a script would reject of its arguments."""

from __future__ import annotations

from typing import Literal

from smspec.script.program import CommandLine, Option
from smspec.script.script_environment import Argument
from smspec.source.frozen import dataclass

FaultKind = Literal["unknown", "missing", "refused", "alone", "truth", "clash", "unread", "pair"]
"""``alone``: a flag accepts no value. ``truth``: a string that becomes true. ``unread``: what follows is not parsed.
``pair``: an option where pairs are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """``argument`` None: it is missing. ``reason`` ends a sentence; ``near`` is a similar valid name or value."""

    kind: FaultKind
    command_line: CommandLine
    argument: Argument | None = None
    option: Option | None = None
    reason: str = ""
    near: str | None = None
