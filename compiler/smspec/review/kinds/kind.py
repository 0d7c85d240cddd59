"""What a kind of change is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from smspec.review.change import Change
from smspec.review.version_pair import Pair
from smspec.source.frozen import dataclass

MOST_NAMED = 4
"""How many subjects a verdict names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """``changes`` finds those of this kind; it is given what the kinds before it found. ``verdict`` sums them up.

    ``meaning`` is what the documentation says of it.
    """

    name: str
    meaning: str
    changes: Callable[[Pair, Sequence[Change]], Iterator[Change]]
    verdict: Callable[[Sequence[Change]], str]


def subjects(changes: Iterable[Change]) -> str:
    """Return the subjects of changes, each once, in brackets; nothing when they have none."""
    names = list(dict.fromkeys(change.brief for change in changes if change.brief))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f" ({', '.join(names[:MOST_NAMED])}{more})" if names else ""


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
