"""Why a script was not read, which a job's result reports instead of findings about the script."""

from __future__ import annotations

from smspec.source import Path
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadScript:
    """``name``: its name in the spec. ``reason`` ends a sentence; ``path`` is where the spec names the script."""

    name: str
    reason: str
    path: Path
    help: str = ""
