"""Environment variables of the job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change
from smspec.review.change_descriptions import by_name
from smspec.review.kinds.kind import Kind, subjects
from smspec.review.version_pair import Pair


def changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    return by_name(pair, KIND.name, "variable")


def verdict(changes: Sequence[Change]) -> str:
    return f"changes environment variables{subjects(changes)}"


KIND = Kind(
    name="environment",
    meaning="added, removed, or changed variables of `environment`; those of `image.env` change the image",
    changes=changes,
    verdict=verdict,
)
