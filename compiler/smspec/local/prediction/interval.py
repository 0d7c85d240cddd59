"""A value of which only two bounds are known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A value between ``least`` and ``most``."""

    least: float
    most: float

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.least + other.least, self.most + other.most)

    def scaled(self, factor: float) -> Interval:
        """Return the interval of ``factor`` times the value; the factor is not negative."""
        return Interval(self.least * factor, self.most * factor)


NONE = Interval(0.0, 0.0)


def hull(intervals: Iterable[Interval]) -> Interval:
    """Return the smallest interval that contains all of them; there is at least one."""
    known = list(intervals)
    return Interval(min(each.least for each in known), max(each.most for each in known))


def slowest(intervals: Iterable[Interval]) -> Interval:
    """Return the largest of several values."""
    known = list(intervals)
    return Interval(max(each.least for each in known), max(each.most for each in known))
