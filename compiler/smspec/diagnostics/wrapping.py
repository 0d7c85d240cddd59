"""Lines for a screen: their width, and where they are broken, between words and never inside one."""

from __future__ import annotations

from collections.abc import Iterator

LEAST_COLUMNS = 20
"""A narrower screen is written to as if it had so many: words would stand alone."""


def width(text: str) -> int:
    """Return the number of terminal columns of ``text``, already visible."""
    if text.isascii():
        return len(text)
    # Imported late: most specs are ASCII, and the tables take a millisecond.
    import unicodedata

    columns = 0
    for character in text:
        if unicodedata.category(character) in ("Mn", "Me", "Cf"):
            continue
        columns += 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
    return columns


def wrapped(text: str, columns: int | None, *, first: str = "", rest: str = "") -> str:
    """Return ``text``, one visible line, as lines of at most ``columns`` columns; None: as one line.

    ``first`` and ``rest`` come before the first line and before each further one. A word with more columns than a line
    has is a line, because a broken one cannot be copied.
    """
    if columns is None or width(first) + width(text) <= columns:
        return first + text
    columns = max(columns, LEAST_COLUMNS)
    if 2 * width(rest) > columns:
        rest = rest[: columns // 4] if not rest.strip() else rest
    lines: list[str] = []
    line, prefix = "", first
    for word in _words(text, columns // 2):
        longer = f"{line} {word}" if line else word
        if line.strip() and width(prefix) + width(longer) > columns:
            lines.append(prefix + line.rstrip(" "))
            line, prefix = word, rest
        else:
            line = longer
    lines.append(prefix + line)
    return "\n".join(lines)


def _words(text: str, most: int) -> Iterator[str]:
    """Yield the words of a text; `code` of at most so many columns is one, to be copied."""
    code = ""
    for word in text.split(" "):
        joined = f"{code} {word}" if code else word
        if joined.count("`") % 2 and width(joined) <= most:
            code = joined
            continue
        if code and width(joined) > most:
            yield from code.split(" ")
            joined = word
        yield joined
        code = ""
    if code:
        yield from code.split(" ")
