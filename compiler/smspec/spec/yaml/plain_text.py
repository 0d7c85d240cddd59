"""Which texts every reader of YAML takes for text when they stand without quotes: ours, and those of 1.1 and 1.2."""

from __future__ import annotations

import re

from smspec.spec.yaml.scalars import meaning

# YAML 1.1 (https://yaml.org/type/): bool, null, merge and value. PyYAML refuses a document with the last two as values.
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "~", "<<", "="))
# Its int, float and timestamp, with the octal numbers of 1.2: `1_000`, `1:30`, `0o17`, `017`, `2026-01-31`.
_NUMBER_OR_DATE = re.compile(
    r"[-+]?(?:0b[01_]+|0o[0-7_]+|0x[0-9a-f_]+|[0-9][0-9_]*(?::[0-9]+)*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?"
    r"|\.[0-9_]+(?:e[-+]?[0-9]+)?|\.inf|\.nan)"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[t \t].*)?",
    re.IGNORECASE,
)


def is_text_everywhere(text: str) -> bool:
    """Tell whether no reader takes ``text`` for a number, a date, true, false, null or a merge.

    Of the signs that mean something in a place, such as ``: `` or a first ``*``, it knows nothing.
    """
    return meaning(text) == text and text.lower() not in _WORDS and not _NUMBER_OR_DATE.fullmatch(text)
