"""Join the parts of a glob to a regular expression that rejects quickly, however many stars it has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

STAR = "[^/]*"
"""Anything within one name."""

SPAN = "(?:.*/)?"
"""Any directories, or none."""

_GROUPED = 30

LONGEST = 4096
"""Characters of a pattern that can match: no path is longer (PATH_MAX)."""


def cost(expression: re.Pattern[str]) -> int:
    """Return how long an expression takes to reject a path, in simple ones: the groups of `joined` take time."""
    return _GROUPED if expression.groups else 1


def joined(parts: Sequence[str]) -> str:
    """Return the expression of parts, which may include `STAR` and `SPAN`.

    A star that is followed by another matches as little as possible, without backtracking: the next one can match the
    rest. So does a span, if the next one starts at a directory too. Trying every way in which ten stars can share a
    long name would take years.
    """
    groups = _names()
    first, *spanned = _split(parts, SPAN)
    words = [_unit(first, groups)]
    for number, unit in enumerate(spanned, 1):
        if number < len(spanned) and unit[-1:] == ["/"]:
            words.append(_once(f"(?:.*?/)??{_unit(unit, groups)}", next(groups)))
        else:
            words.append(SPAN + _unit(unit, groups))
    return "".join(words)


def _unit(parts: Sequence[str], groups: Iterator[str]) -> str:
    first, *starred = _split(parts, STAR)
    words = ["".join(first)]
    for number, fixed in enumerate(starred, 1):
        if number < len(starred):
            words.append(_once(f"[^/]*?{''.join(fixed)}", next(groups)))
        else:
            words.append(STAR + "".join(fixed))
    return "".join(words)


def _once(expression: str, group: str) -> str:
    """Return an expression that matches only what another matches first: Python supports this from 3.11 on."""
    return f"(?=(?P<{group}>{expression}))(?P={group})"


def _split(parts: Sequence[str], at: str) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for part in parts:
        if part == at:
            found.append([])
        else:
            found[-1].append(part)
    return found


def _names() -> Iterator[str]:
    number = 0
    while True:
        yield f"g{number}"
        number += 1
