"""A text and its name."""

from __future__ import annotations

from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True)
class SourceText:
    """The whole text of one file. ``name`` is the path as the author typed or would type it."""

    name: str
    text: str
