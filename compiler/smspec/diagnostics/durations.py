"""Seconds in the notation of a spec."""

from __future__ import annotations

SECONDS = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
"""The seconds of each unit, the largest first."""


def duration(seconds: int) -> str:
    """Return ``1d`` for 86,400 seconds and ``70s`` for 70: the largest unit without a fraction."""
    return next((f"{seconds // size}{unit}" for unit, size in SECONDS.items() if seconds and seconds % size == 0), "0s")
