"""What a target comes to: a text, and what its reader has to know beside it."""

from __future__ import annotations

from smspec.source.frozen import dataclass


class NothingToRender(Exception):
    """The job has no such file; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """``notes`` are sentences for people, such as what the text cannot say; they never stand in it."""

    text: str
    notes: tuple[str, ...] = ()
