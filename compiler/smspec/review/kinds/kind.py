"""The type of a kind of change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from smspec.review.change import Change
from smspec.review.version_pair import Pair
from smspec.source.frozen import dataclass

MOST_NAMED = 4
"""How many subjects a summary lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """``changes`` finds those of this kind, given those of earlier kinds. ``verdict`` summarizes them.

    ``meaning`` is the text in the documentation.
    """

    name: str
    meaning: str
    changes: Callable[[Pair, Sequence[Change]], Iterator[Change]]
    verdict: Callable[[Sequence[Change]], str]


def subjects(changes: Iterable[Change]) -> str:
    """Return the subjects of changes, without duplicates, in brackets; empty if there are none."""
    names = list(dict.fromkeys(change.brief for change in changes if change.brief))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f" ({', '.join(names[:MOST_NAMED])}{more})" if names else ""


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
