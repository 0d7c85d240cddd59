"""Sizes: kB MB GB are powers of 1000, KiB MiB GiB of 1024; a bare number is bytes, or GB of a storage volume."""

from __future__ import annotations

import re

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
