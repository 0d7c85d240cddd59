"""Seconds as people write them."""

from __future__ import annotations

_UNITS = (("d", 86_400), ("h", 3600), ("m", 60))


def duration(seconds: int | None) -> str | None:
    """Return ``1d`` for 86,400 seconds and ``70s`` for 70; None for None."""
    if seconds is None:
        return None
    return next((f"{seconds // size}{unit}" for unit, size in _UNITS if seconds % size == 0), f"{seconds}s")
