"""Seconds as people write them."""

from __future__ import annotations

from typing import overload

_UNITS = (("d", 86_400), ("h", 3600), ("m", 60))


@overload
def duration(seconds: int) -> str | int: ...
@overload
def duration(seconds: None) -> None: ...
def duration(seconds: int | None) -> str | int | None:
    """Return ``1d`` for 86,400 and ``70s`` for 70; what is no duration stays a number, and is told of as one."""
    if seconds is None or seconds < 1:
        return seconds
    return next((f"{seconds // size}{unit}" for unit, size in _UNITS if seconds % size == 0), f"{seconds}s")
