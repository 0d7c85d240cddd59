"""The output of a target: a text, and notes for its reader."""

from __future__ import annotations

from smspec.source.frozen import dataclass


class NothingToRender(Exception):
    """The job has no such file; the text explains why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """``notes`` are sentences for the reader, such as limits of the text; they are not part of the text."""

    text: str
    notes: tuple[str, ...] = ()
