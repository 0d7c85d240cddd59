"""Seconds as people write them in a spec."""

from __future__ import annotations

SECONDS = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
"""How many each unit has, the largest first."""


def duration(seconds: int) -> str:
    """Return ``1d`` for 86,400 seconds and ``70s`` for 70: in the largest unit that needs no fraction."""
    return next((f"{seconds // size}{unit}" for unit, size in SECONDS.items() if seconds and seconds % size == 0), "0s")
