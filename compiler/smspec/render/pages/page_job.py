"""What a page shows of a job and of a finding."""

from __future__ import annotations

from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFinding:
    """``excerpt``: the lines of the spec, with the position, notes, and help, as in a terminal."""

    code: str
    severity: str
    message: str
    place: str
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageJob:
    """``file`` identifies it. ``cost``: the ceiling in words; ``hours``: its instance hours, None if unknown;
    ``usd``: the ceiling in dollars, None unless all its instances have a price in dollars.

    ``findings``: the numbers of its findings on the page. ``description``: what the author says of it.
    """

    name: str
    file: str
    description: str = ""
    overlays: tuple[str, ...] = ()
    hosts: str = ""
    cost: str = ""
    hours: float | None = None
    usd: float | None = None
    findings: tuple[int, ...] = ()
