"""One thing that differs between two states of a job, with the kind of consequence that it has."""

from __future__ import annotations

from fractions import Fraction
from typing import Union

from smspec.source import Path
from smspec.source.frozen import dataclass

Rise = Union[Fraction, None]
"""Per cent by which something rises; None when there is nothing to compare it with, or no way to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What was and what will be. ``kind`` is the name of one of `KINDS`.

    ``path`` is the spec's, or the API's where no spec says it. ``old`` and ``new`` are JSON values without
    secrets; None is nothing. ``what`` is the consequence, in words; ``brief`` names the subject in the
    verdict. ``file`` and ``line`` are where it is written now, or was, when it is gone.
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
