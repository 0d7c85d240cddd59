"""Why nothing is known of a script: what a job's result reports in the place of what the script asks for."""

from __future__ import annotations

from smspec.source import Path
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """``name``: what the author calls it. ``reason`` ends a sentence; ``path`` is where the spec names the script."""

    name: str
    reason: str
    path: Path
    help: str = ""
