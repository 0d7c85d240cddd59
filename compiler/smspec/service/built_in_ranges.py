"""The values of hyperparameters against the ranges that AWS's guide and its SDK give for a built-in algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Literal

from smspec.service.facts.algorithms import Algorithm, Hyperparameter, Range
from smspec.service.members import structure
from smspec.service.request import Request
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OutOfRange:
    """A value outside of one range or of both. ``limit`` is the range that it violates, in words."""

    name: str
    value: str
    outside: Literal["both", "one"]
    limit: str


def out_of_range(request: Request, algorithm: Algorithm) -> Iterator[OutOfRange]:
    """Yield the numbers that a source excludes. Any row of a name allows what it allows: they are for several modes."""
    for name, value in structure(request.payload, "HyperParameters").items():
        rows = [row for row in algorithm.hyperparameters if row.name == name]
        number = _number(value)
        if number is None or any(row.kind not in ("int", "float") for row in rows):
            continue
        outside = [
            ranges[0] for ranges in _sources(rows) if ranges and not any(each.contains(number) for each in ranges)
        ]
        if outside:
            yield OutOfRange(
                name=name,
                value=str(value),
                outside="both" if len(outside) > 1 else "one",
                limit=_limit(outside[0], number),
            )


def _sources(rows: list[Hyperparameter]) -> tuple[list[Range], list[Range]]:
    return [row.guide for row in rows], [row.sdk for row in rows]


def _limit(excluding: Range, number: float) -> str:
    """Return the bound that a number violates."""
    if not Range(minimum=excluding.minimum, maximum="").contains(number):
        low = excluding.minimum
        return f"above {low[1:]}" if low.startswith(">") else f"at least {low}"
    high = excluding.maximum
    return f"below {high[1:]}" if high.startswith("<") else f"at most {high}"


def _number(value: object) -> float | None:
    """Return the number that an algorithm reads; None for words, lists, and what is no number."""
    try:
        number = float(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return number if number is not None and isfinite(number) else None
