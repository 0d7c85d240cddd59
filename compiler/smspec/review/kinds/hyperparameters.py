"""Hyperparameters of the job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change
from smspec.review.change_descriptions import by_name
from smspec.review.kinds.kind import Kind, subjects
from smspec.review.version_pair import Pair


def changes(pair: Pair, _earlier: Sequence[Change]) -> Iterator[Change]:
    return by_name(pair, KIND.name, "hyperparameter")


def verdict(changes: Sequence[Change]) -> str:
    return f"changes hyperparameters{subjects(changes)}"


KIND = Kind(
    name="hyperparameters",
    meaning="added, removed, or changed hyperparameters, as the job receives them",
    changes=changes,
    verdict=verdict,
)
