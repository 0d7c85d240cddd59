"""Durations and sizes: what each form means, and what an author probably means by another one.

Durations are ``90s 15m 6h 2d``, or a bare number of seconds. Of sizes, kB MB GB are powers of 1000, KiB MiB GiB of
1024; a bare number is bytes, or GB of a storage volume.
"""

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


_BYTES = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_GB = 10**9


def size_in_bytes(value: int | float | str) -> int:
    """Return the bytes of a size that matches the schema."""
    if isinstance(value, str):
        unit = value.lstrip("0123456789")
        return int(value.removesuffix(unit)) * _BYTES[unit]
    return int(value)


def volume_in_gb(value: int | float | str) -> int:
    """Return the whole GB of a storage volume that matches the schema; a bare number is GB already."""
    return size_in_bytes(value) // _GB if isinstance(value, str) else int(value)


def size_meant(text: str) -> str | None:
    """Return the size that ``32 mb``, ``32M``, ``0.5GB``, or ``32`` probably means, or None."""
    if re.fullmatch("[1-9][0-9]{0,2}", text):
        return f"{text}MB"  # too few bytes to be a size
    total = _bytes_meant(text)
    if not total:
        return None
    binary = "i" in text.lower()
    for unit in ("GiB", "MiB", "KiB") if binary else ("GB", "MB", "kB"):
        if total % _BYTES[unit] == 0:
            return f"{total // _BYTES[unit]}{unit}"
    return None


def volume_meant(text: str) -> str | None:
    """Return the whole GB, rounded up, that ``500MB``, ``50 gb``, or ``1TB`` probably means, or None."""
    total = _bytes_meant(text)
    return f"{-(-total // _GB)}GB" if total else None


def _bytes_meant(text: str) -> int | None:
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([kmgt])(i?)b?(?:ytes?)?\s*", text, re.IGNORECASE)
    if not match:
        return None
    power = "kmgt".index(match[2].lower()) + 1
    total = float(match[1]) * (1024 if match[3] else 1000) ** power
    return int(total) if total == int(total) else None
