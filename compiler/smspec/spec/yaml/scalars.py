"""The values of plain scalars: numbers, true, false, null, and strings; and how others read them.

Other YAML parsers, of versions 1.1 and 1.2, read some unquoted strings as values of another type. So a value that
smspec writes as one line of YAML has quotes where any parser needs them.
"""

from __future__ import annotations

import json
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

_PLAIN = re.compile(r"[A-Za-z0-9./_-](?:[A-Za-z0-9 ./_@+=:-]*[A-Za-z0-9./_@+=-])?")

# YAML 1.1 (https://yaml.org/type/): bool, null, merge, and value. PyYAML rejects a document with the last two as
# values.
_WORDS_ELSEWHERE = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "<<", "="))
# Its int, float and timestamp, with the octal numbers of 1.2: `1_000`, `1:30`, `0o17`, `017`, `2026-01-31`.
_NUMBER_OR_DATE = (
    r"[-+]?(?:0b[01_]+|0o[0-7_]+|0x[0-9a-f_]+|[0-9][0-9_]*(?::[0-9]+)*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?"
    r"|\.[0-9_]+(?:e[-+]?[0-9]+)?|\.inf|\.nan)"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[t \t].*)?"
)

_BOOLEANS = frozenset(
    (*(form(word) for word in ("yes", "no", "on", "off") for form in (str.lower, str.capitalize, str.upper)), *"yYnN")
)
_NUMBER_ELSEWHERE = (
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


def flow_style(value: object) -> str:
    """Return ``value`` in flow style, with quotes only where they are needed."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow_style(str(key))}: {flow_style(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow_style(item) for item in value) + "]"
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and ": " not in value and not value.startswith("- ") and is_text_everywhere(value):
        return value
    # Single quotes keep backslashes, so the regular expressions of metrics stay readable.
    return "'" + value.replace("'", "''") + "'" if "\\" in value else json.dumps(value, ensure_ascii=False)


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
    if re.fullmatch(_NUMBER_ELSEWHERE, text):
        return "a number"
    return "a date" if re.fullmatch(_DATE, text) else ""


def is_text_everywhere(text: str) -> bool:
    """Return whether no parser reads ``text`` as a number, a date, true, false, null, or a merge.

    It does not check characters that have a meaning in some places, such as ``: `` or a leading ``*``.
    """
    return (
        meaning(text) == text
        and text.lower() not in _WORDS_ELSEWHERE
        and not (text.startswith(_FIRST) and re.fullmatch(_NUMBER_OR_DATE, text, re.IGNORECASE))
    )
