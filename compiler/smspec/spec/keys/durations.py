"""Durations: ``90s 15m 6h 2d``, or a bare number of seconds."""

from __future__ import annotations

import re

from smspec.diagnostics.quoting import SECONDS_OF_UNITS, duration

_LONGEST = 60
"""Characters of a string that may be a duration; a long one of spaces would take the pattern minutes."""


def seconds(value: int | float | str) -> int:
    """Return the seconds of a duration that matches the schema."""
    if isinstance(value, str):
        return int(value[:-1]) * SECONDS_OF_UNITS[value[-1]]
    return int(value)


def duration_meant(text: str) -> str | None:
    """Return the duration that ``1h30m``, ``1.5 hours``, or ``00:15:00`` probably means, or None."""
    clock = re.fullmatch(r"([0-9]{1,4}):([0-5][0-9])(?::([0-5][0-9]))?", text)
    if clock:
        hours, minutes, rest = (int(part or 0) for part in clock.groups())
        return _written(hours * 3600 + minutes * 60 + rest)
    if len(text) > _LONGEST:
        return None
    total = 0.0
    read = 0
    for match in re.finditer(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([A-Za-z]+)\s*", text):
        unit = match[2].lower()[:1]
        if match.start() != read or unit not in SECONDS_OF_UNITS or not _is_unit(match[2].lower()):
            return None
        total += float(match[1]) * SECONDS_OF_UNITS[unit]
        read = match.end()
    return _written(int(total)) if read and read == len(text) and total == int(total) else None


def _is_unit(word: str) -> bool:
    names = {"s": "seconds secs", "m": "minutes mins", "h": "hours hrs", "d": "days"}[word[0]]
    return any(name in (word, f"{word}s") or word == name[:1] for name in names.split())


def _written(total: int) -> str | None:
    return duration(total) if total else None
