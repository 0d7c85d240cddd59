"""Quote text of the author, and lists of choices, in backticks for messages."""

from __future__ import annotations

from collections.abc import Iterable

from smspec.diagnostics.masking import masked
from smspec.source import Path, dotted

_LONGEST_QUOTED = 60
"""Code points of the author's text; the rest is an ellipsis."""


def quoted(text: str) -> str:
    """Return text of the author without secrets, truncated if very long."""
    text = masked(text)  # before it is truncated: half a secret may not be recognized
    return f"`{text}`" if len(text) <= _LONGEST_QUOTED else f"`{text[: _LONGEST_QUOTED - 1]}…`"


def one_of(names: Iterable[str]) -> str:
    """Return "`a`, `b`, or `c`"."""
    *most, last = (f"`{name}`" for name in names)
    return f"{', '.join(most)}{',' if len(most) > 1 else ''} or {last}" if most else last


def path_name(path: Path) -> str:
    """Return the path of a value for a message, in backticks; of a long one the end, which distinguishes it."""
    text = masked(dotted(path))  # before it is truncated, as above
    return f"`{text}`" if len(text) <= _LONGEST_QUOTED else f"`…{text[1 - _LONGEST_QUOTED :]}`"
