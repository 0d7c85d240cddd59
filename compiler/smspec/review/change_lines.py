"""The lines of a change for a terminal: its kind and its effect, then the old and the new value."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics.visible import visible, width
from smspec.review.job_review import ReportedChange
from smspec.review.shown_values import MOST_IN_TEXT, has_values, shown_values, under
from smspec.review.user_text import quoted
from smspec.source import dotted

Paint = Callable[[str, str], str]
"""Formats text in a style of the terminal."""

_STYLES = {"restart": "1;31", "security": "1;31", "cost": "1;33", "image": "1;36", "cosmetic": "2", "job": "2"}


def change_lines(reported: ReportedChange, kinds: int, file: str, paint: Paint) -> Iterator[str]:
    """Yield a change; ``kinds`` is the width of the longest kind, ``file`` the one whose name is known."""
    change = reported.change
    kind = painted_kind(change.kind, kinds, paint)
    path = visible(dotted(change.path))
    place = _place(reported)
    where = f"line {change.line}" if change.file == file and change.line else place
    here = " ".join(part for part in (path, where and f"({where})") if part)
    overlays = under(reported, quoted)
    overlays = f" — {overlays}" if overlays else ""
    yield f"  {kind}  {here + ': ' if here else ''}{change.what}{overlays}"
    if has_values(change):
        old, new = shown_values(change, most=MOST_IN_TEXT)
        margin = " " * (kinds + 4)
        together = f"{margin}{paint('31', old)} → {paint('32', new)}"
        if width(old) + width(new) + len(margin) > 110:
            yield f"{margin}{paint('31', old)}"
            yield f"{margin}→ {paint('32', new)}"
        else:
            yield together


def painted_kind(kind: str, kinds: int, paint: Paint) -> str:
    """Return a kind in its style, as wide as the longest one."""
    return paint(_STYLES.get(kind, "1"), kind) + " " * (kinds - width(kind))


def _place(reported: ReportedChange) -> str:
    change = reported.change
    return f"{visible(change.file)}:{change.line}" if change.file else ""


def plain(_style: str, words: str) -> str:
    return words


def coloured(style: str, words: str) -> str:
    return f"\x1b[{style}m{words}\x1b[0m"
