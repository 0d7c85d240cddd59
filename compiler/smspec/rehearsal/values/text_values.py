"""Lines of text; the numbers in a line are values of their own, so that a tolerance applies to them."""

from __future__ import annotations

import re

from smspec.rehearsal.values.leaf import Leaves, Unreadable

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")


def decode(data: bytes) -> Leaves:
    """Return the lines of a UTF-8 text, without their numbers, and the numbers."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable from None
    if "\0" in text:
        raise Unreadable
    leaves: Leaves = {}
    for index, line in enumerate(text.splitlines()):
        leaves[f"line[{index}]"] = _NUMBER.sub("#", line)
        for place, match in enumerate(_NUMBER.finditer(line)):
            leaves[f"line[{index}].number[{place}]"] = float(match[0])
    return leaves
