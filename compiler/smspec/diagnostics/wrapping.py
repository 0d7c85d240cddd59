"""Lines for a screen: broken between words, never inside one."""

from __future__ import annotations

from smspec.diagnostics.quoting import width

LEAST_COLUMNS = 20
"""A narrower screen is written to as if it had so many: words would stand alone."""


def wrapped(text: str, columns: int | None, *, first: str = "", rest: str = "") -> str:
    """Return ``text``, one visible line, as lines of at most ``columns`` columns; None: as one line.

    ``first`` and ``rest`` come before the first line and before each further one. A word with more columns than a line
    has is a line: broken, nobody could copy it.
    """
    if columns is None or width(first) + width(text) <= columns:
        return first + text
    columns = max(columns, LEAST_COLUMNS)
    if 2 * width(rest) > columns:
        rest = rest[: columns // 4] if not rest.strip() else rest
    lines: list[str] = []
    line, prefix = "", first
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if line.strip() and width(prefix) + width(longer) > columns:
            lines.append(prefix + line.rstrip(" "))
            line, prefix = word, rest
        else:
            line = longer
    lines.append(prefix + line)
    return "\n".join(lines)
