"""A text and the name its reader knows it by."""

from __future__ import annotations

from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True)
class SourceText:
    """The whole text of one file. ``name`` is the path as the author typed or would type it."""

    name: str
    text: str

    def line(self, number: int) -> str:
        """Return line ``number``, counted from 1, without its line break; empty past the end."""
        lines = self.text.split("\n")
        return lines[number - 1].removesuffix("\r") if 1 <= number <= len(lines) else ""
