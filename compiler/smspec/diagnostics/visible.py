"""Text made safe and measurable for a terminal: control characters shown as escapes, widths in columns."""

from __future__ import annotations

TAB = "    "
"""The display of a tab: its real width depends on its position and on the terminal."""

_BIDIRECTIONAL = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_LINE_BREAKS = frozenset("\u2028\u2029")


def visible(text: str) -> str:
    """Return ``text`` with everything that could move the cursor or reorder the line as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


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


def _shown(character: str) -> str:
    if character == "\t":
        return TAB
    code = ord(character)
    if code < 0x20 or 0x7F <= code < 0xA0:
        return f"\\x{code:02x}"
    if character in _BIDIRECTIONAL or character in _LINE_BREAKS or 0xD800 <= code <= 0xDFFF or code == 0xFEFF:
        return f"\\u{code:04x}"
    return character
