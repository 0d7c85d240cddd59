"""How messages write what smspec did not: text of the author, paths, choices, durations, and messages of others.

"Others" are an operating system, a library, or a server: their messages end a sentence of smspec.
"""

from __future__ import annotations

from collections.abc import Iterable

from smspec.diagnostics.masking import masked
from smspec.source import Path, dotted

_LONGEST_QUOTED = 60
"""Code points of the author's text; the rest is an ellipsis."""

SECONDS_OF_UNITS = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
"""The seconds of each unit, the largest first."""


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


def duration(seconds: int) -> str:
    """Return ``1d`` for 86,400 seconds and ``70s`` for 70: the largest unit without a fraction."""
    return next(
        (f"{seconds // size}{unit}" for unit, size in SECONDS_OF_UNITS.items() if seconds and seconds % size == 0), "0s"
    )


def continued(text: str) -> str:
    """Return a message in one line, without a full stop and, if it begins with a word, in lower case."""
    words = " ".join(text.split()).rstrip(".")
    # `SSL: …` and `S3 …` are names.
    return words if words[1:2].isupper() or words[1:2].isdigit() else words[:1].lower() + words[1:]


def system_reason(fault: OSError) -> str:
    """Return the message of the system."""
    return continued(fault.strerror or str(fault))
