"""Where results are written, and in which form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change
from smspec.review.change_descriptions import by_member
from smspec.review.kinds.kind import Kind, subjects
from smspec.review.version_pair import Pair


def changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    return by_member(pair, KIND.name)


def verdict(changes: Sequence[Change]) -> str:
    return f"changes the output{subjects(changes)}"


KIND = Kind(
    name="output",
    meaning="where the model, TensorBoard, debugger, and profiler data go, and how the model is compressed",
    changes=changes,
    verdict=verdict,
)
