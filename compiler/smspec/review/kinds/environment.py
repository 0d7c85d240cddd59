"""What the program is told by environment variables of the job."""

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
        yield pair.at_leaf(KIND.name, leaf, f"variable {quoted(name)} {how}", brief=quoted(name))


def verdict(changes: Sequence[Change]) -> str:
    return f"changes environment variables{subjects(changes)}"


KIND = Kind(
    name="environment",
    meaning="a variable of `environment` is new, gone or has another value; those of `image.env` change the image",
    changes=changes,
    verdict=verdict,
)
