"""What a program would reject of what it is given."""

from __future__ import annotations

from typing import Literal

from smspec.script.program import CommandLine, Option
from smspec.script.script_environment import Argument
from smspec.source.frozen import dataclass

FaultKind = Literal["unknown", "missing", "refused", "alone", "truth", "clash", "unread"]
"""``alone``: a flag takes no value. ``truth``: a text that becomes true. ``unread``: what follows is not looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """``argument`` None: of something that is not given. ``reason`` ends a sentence; ``near`` is what may be meant."""

    kind: FaultKind
    command_line: CommandLine
    argument: Argument | None = None
    option: Option | None = None
    reason: str = ""
    near: str | None = None
