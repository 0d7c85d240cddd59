"""What the program is told by hyperparameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change
from smspec.review.kinds.kind import Kind, subjects
from smspec.review.pair import Pair
from smspec.review.user_words import quoted


def changes(pair: Pair, _told: Sequence[Change]) -> Iterator[Change]:
    for leaf in pair.leaves_of(KIND.name):
        name = str(leaf.at[-1])
        how = "is new" if leaf.old is None else "is gone" if leaf.new is None else "changed"
        yield pair.at_leaf(KIND.name, leaf, f"hyperparameter {quoted(name)} {how}", brief=quoted(name))


def verdict(changes: Sequence[Change]) -> str:
    return f"changes hyperparameters{subjects(changes)}"


KIND = Kind(
    name="hyperparameters",
    meaning="a hyperparameter is new, gone, or sent as another text",
    changes=changes,
    verdict=verdict,
)
