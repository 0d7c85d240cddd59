"""How other YAML parsers, of versions 1.1 and 1.2, read an unquoted string: as a string or a value of another type."""

from __future__ import annotations

import re

from smspec.spec.yaml.scalars import meaning

# YAML 1.1 (https://yaml.org/type/): bool, null, merge, and value. PyYAML rejects a document with the last two as
# values.
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "<<", "="))
# Its int, float and timestamp, with the octal numbers of 1.2: `1_000`, `1:30`, `0o17`, `017`, `2026-01-31`.
_NUMBER_OR_DATE = (
    r"[-+]?(?:0b[01_]+|0o[0-7_]+|0x[0-9a-f_]+|[0-9][0-9_]*(?::[0-9]+)*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?"
    r"|\.[0-9_]+(?:e[-+]?[0-9]+)?|\.inf|\.nan)"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[t \t].*)?"
)

_BOOLEANS = frozenset(
    (*(form(word) for word in ("yes", "no", "on", "off") for form in (str.lower, str.capitalize, str.upper)), *"yYnN")
)
_NUMBER = (
    # YAML 1.1: binary, octal, hexadecimal, decimal and base 60, all with underscores.
    r"[-+]?(?:0b[01_]*[01][01_]*|0[0-7_]+|0x[0-9a-fA-F_]*[0-9a-fA-F][0-9a-fA-F_]*|[1-9][0-9_]*(?::[0-5]?[0-9])*"
    r"|[0-9][0-9_]*(?::[0-5]?[0-9])*\.[0-9_]*|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN)"
    # YAML 1.2 core schema: leading zeros, octal, and numbers too large for a float.
    r"|0o[0-7]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
)
_DATE = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
    r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?"
)
# The first characters of numbers and dates. Few strings have them, so the patterns are compiled on first use.
_FIRST = tuple("-+.0123456789")


def read_elsewhere_as(text: str) -> str:
    """Return how some other parser reads a string: `a boolean`, `a number`, `a date`; empty if all read a string.

    Exact, so a warning can be based on it. `is_text_everywhere` errs on the side of quotes.
    """
    if meaning(text) != text:
        return ""
    if text in _BOOLEANS:
        return "a boolean"
    if not text.startswith(_FIRST):
        return ""
    if re.fullmatch(_NUMBER, text):
        return "a number"
    return "a date" if re.fullmatch(_DATE, text) else ""


def is_text_everywhere(text: str) -> bool:
    """Return whether no parser reads ``text`` as a number, a date, true, false, null, or a merge.

    It does not check characters that have a meaning in some places, such as ``: `` or a leading ``*``.
    """
    return (
        meaning(text) == text
        and text.lower() not in _WORDS
        and not (text.startswith(_FIRST) and re.fullmatch(_NUMBER_OR_DATE, text, re.IGNORECASE))
    )
