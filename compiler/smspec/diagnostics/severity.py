"""The severity of findings, and their order and counts by severity."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol, TypeVar, get_args

Severity = Literal["error", "warning", "note"]
"""Most severe first. A note reports what was not checked: it never fails a command, even with ``--strict``."""

SEVERITIES: tuple[Severity, ...] = get_args(Severity)


class Graded(Protocol):
    """A finding or a diagnostic."""

    @property
    def severity(self) -> Severity: ...


OneGraded = TypeVar("OneGraded", bound=Graded)


def gravest_first(graded: Iterable[OneGraded]) -> list[OneGraded]:
    """Return findings sorted by severity; the order of equal ones is kept."""
    return sorted(graded, key=lambda one: SEVERITIES.index(one.severity))


def counted(graded: Iterable[Graded]) -> str:
    """Return the number of each severity, such as ``1 error, 2 notes``; empty for none."""
    found = [one.severity for one in graded]
    return ", ".join(_count(found.count(severity), severity) for severity in SEVERITIES if severity in found)


def fails(graded: Iterable[Graded], *, is_strict: bool) -> bool:
    """Return whether a command must fail: for an error, and with ``is_strict`` for a warning."""
    failing = ("error", "warning") if is_strict else ("error",)
    return any(one.severity in failing for one in graded)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
