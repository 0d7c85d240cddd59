"""The values of plain scalars: numbers, true, false, null, and strings."""

from __future__ import annotations

import re

# A JSON number, or one of the forms .5 5. +5 that authors write. Only ASCII digits.
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(\.[0-9]*)?|(\.[0-9]+))([eE][-+]?[0-9]+)?")
_WORDS: dict[str, float | bool | None] = {
    # Booleans and nulls of the core schema (YAML 1.2.2, section 10.3.2).
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("null", "Null", "NULL", "~"), None),
    ".inf": float("inf"),
    "+.inf": float("inf"),
    "-.inf": float("-inf"),
    ".nan": float("nan"),
}
_FIRST_OF_A_NUMBER = frozenset("+-.0123456789")
_INFINITE = (float("inf"), float("-inf"))


def meaning(text: str) -> str | int | float | bool | None:
    """Return the value of a plain scalar: a number, true, false, null, or the text itself.

    Empty text is null too, as after ``key:``. What looks like a number but is too large to be one, such as the commit
    ``695e0514``, is a string: no program could read it back.
    """
    if not text:
        return None
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _FIRST_OF_A_NUMBER:
        return text
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text
    number = float(text)
    if number in _INFINITE:
        return text
    return number if match.lastindex else int(text)
