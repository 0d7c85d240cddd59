"""One difference between two states of a job, with the kind of its consequence."""

from __future__ import annotations

from fractions import Fraction
from typing import Union

from smspec.source import Path
from smspec.source.frozen import dataclass

Rise = Union[Fraction, None]
"""The rise in percent; None if there is nothing to compare it with, or no way to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The old and the new value. ``kind`` is the name of one of `KINDS`.

    ``path`` is that of the spec, or of the API if no key of the spec sets it. ``old`` and ``new`` are JSON values
    without secrets; None if not set. ``what`` describes the consequence; ``brief`` names the subject in the summary.
    ``file`` and ``line`` are where it is written now, or was, if it is removed.
    """

    kind: str
    path: Path
    old: object = None
    new: object = None
    what: str
    brief: str = ""
    file: str | None = None
    line: int | None = None
    rise: Rise = None
