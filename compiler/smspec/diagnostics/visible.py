"""Text made safe and measurable for a terminal or a page: what cannot be seen is an escape, widths in columns.

Everything that shows a value calls `visible`; what is meant for programs, such as JSON, contains the value itself.
"""

from __future__ import annotations

import re

TAB = "    "
"""The display of a tab: its real width depends on its position and on the terminal."""

_SPACES = re.compile("[\t\n\r\xa0\xad\u1680\u2000-\u200a\u202f\u205f]")
_BETWEEN_CONTROLS = re.compile("[^\\x00-\\x1f]+")
_ORDERS = re.compile(r"\x1b(?!\[(?:[0-9;:]*[A-HJKfm]|\?25[hl]))|[\x00-\x06\x0e-\x1a\x1c-\x1f]")
"""Escapes of a terminal that are neither colors nor moves of the cursor, and control characters without a use."""

_WORD = re.compile(r"[^\W\d_]+")


def visible(text: str) -> str:
    """Return ``text`` with everything that could hide, move the cursor, or reorder the line as an escape.

    So is a letter of another script in a Latin word: ``\\u0430dmin``.
    """
    if text.isascii():
        return text if text.isprintable() else "".join(map(_shown, text))
    # Imported late: most texts are ASCII.
    from smspec.diagnostics.unseen import mixed_letter, unseen_parts

    parts, end = [], 0
    for start, stop in unseen_parts(text):
        parts += [text[end:start], *map(_escaped, text[start:stop])]
        end = stop
    shown = _SPACES.sub(lambda match: _shown(match[0]), "".join((*parts, text[end:])))
    return _WORD.sub(lambda match: _distinguished(match[0]) if mixed_letter(match[0]) else match[0], shown)


def seen(text: str) -> str:
    """Return text that may have colors and move the cursor, with everything else that cannot be seen as an escape.

    A terminal does more for a program: it copies to the clipboard, changes its title, or types an answer.
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text  # most is, and a search takes five times as long
    text = _ORDERS.sub(lambda match: _escaped(match[0]), text)
    if text.isascii() and "\x7f" not in text:
        return text
    return _BETWEEN_CONTROLS.sub(lambda match: visible(match[0]), text)


def multiline_visible(text: str) -> str:
    """Return a text of several lines, each visible."""
    return "\n".join(map(visible, text.split("\n")))


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


def _distinguished(word: str) -> str:
    """Return a word with the letters that are not Latin as escapes."""
    from unicodedata import name

    return "".join(each if name(each, "").startswith("LATIN ") else _escaped(each) for each in word)


def _shown(character: str) -> str:
    if character == "\t":
        return TAB
    return character if character.isascii() and character.isprintable() else _escaped(character)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
