"""Where results go, and in which form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change
from smspec.review.kinds.kind import Kind, subjects
from smspec.review.members import words
from smspec.review.pair import Pair


def changes(pair: Pair, _told: Sequence[Change]) -> Iterator[Change]:
    for leaf in pair.leaves_of(KIND.name):
        yield pair.at_leaf(KIND.name, leaf, words(leaf.at), brief=words(leaf.at))


def verdict(changes: Sequence[Change]) -> str:
    return f"changes the output{subjects(changes)}"


KIND = Kind(
    name="output",
    meaning="where the model, TensorBoard, debugger and profiler data go, and how the model is packed",
    changes=changes,
    verdict=verdict,
)
