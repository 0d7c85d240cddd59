"""A kind of change, and what kinds have in common: descriptions of differing members, and summaries of subjects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from smspec.review.change import Change, quoted
from smspec.review.version import Pair
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


def by_member(pair: Pair, kind: str) -> Iterator[Change]:
    """Yield each difference of a kind with the name of its member, without its unit where it is a subject."""
    for leaf in pair.leaves_of(kind):
        what = pair.words(leaf)
        yield pair.at_leaf(kind, leaf, what, brief=what.partition(",")[0])


def by_name(pair: Pair, kind: str, noun: str) -> Iterator[Change]:
    """Yield each difference of a kind with its own name, which a user chose."""
    for leaf in pair.leaves_of(kind):
        name = quoted(str(leaf.at[-1]))
        how = "is new" if leaf.old is None else "is gone" if leaf.new is None else "changed"
        yield pair.at_leaf(kind, leaf, f"{noun} {name} {how}", brief=name)


def listing(words: str) -> Callable[[Sequence[Change]], str]:
    """Return a verdict: these words, and the subjects of the changes."""
    return lambda changes: f"{words}{subjects(changes)}"


def of_members(name: str, *, summary: str, meaning: str) -> Kind:
    """Return a kind of which each differing member of the request is a change."""
    return Kind(name=name, meaning=meaning, changes=lambda pair, _: by_member(pair, name), verdict=listing(summary))


def of_names(name: str, *, noun: str, summary: str, meaning: str) -> Kind:
    """Return a kind of which each differing ``noun`` is a change, called by the name that a user chose."""
    return Kind(name=name, meaning=meaning, changes=lambda pair, _: by_name(pair, name, noun), verdict=listing(summary))
