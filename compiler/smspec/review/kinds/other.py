"""Changes without a kind of their own: tags, metrics, and members of the API without a key of the spec."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change
from smspec.review.change_descriptions import by_member
from smspec.review.kinds.kind import Kind, subjects
from smspec.review.version_pair import Pair


def changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    return by_member(pair, KIND.name)


def verdict(changes: Sequence[Change]) -> str:
    return f"changes other settings{subjects(changes)}"


KIND = Kind(
    name="other",
    meaning="tags, metrics, and members of the API of no other kind",
    changes=changes,
    verdict=verdict,
)
