"""Checkpoints of the old job are resumed with different settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smspec.review.change import Change
from smspec.review.kinds.kind import Kind, subjects
from smspec.review.version_pair import Pair
from smspec.service.members import member

_MATTERS = {
    "hyperparameters": "hyperparameters",
    "code": "code",
    "image": "image",
    "data": "data",
    "environment": "environment",
}


def changes(pair: Pair, reported: Sequence[Change]) -> Iterator[Change]:
    """Yield one change if both jobs have the same checkpoints and differ in something that training depends on."""
    old, new = (member(version.payload, "CheckpointConfig", "S3Uri") for version in (pair.old, pair.new))
    found = list(dict.fromkeys(_MATTERS[change.kind] for change in reported if change.kind in _MATTERS))
    if old is None or old != new or not found:
        return
    what = f"checkpoints of the old job are taken up with changed {_joined(found)}"
    path = pair.new.origin(("CheckpointConfig", "S3Uri")) or ("CheckpointConfig", "S3Uri")
    yield pair.change(KIND.name, path, what, old=old, new=new, brief=", ".join(found))


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def verdict(changes: Sequence[Change]) -> str:
    return f"resumes old checkpoints with changes{subjects(changes)}"


KIND = Kind(
    name="resume",
    meaning="the checkpoint prefix stays, so training resumes from old checkpoints with changed hyperparameters, "
    "code, image, data, or environment",
    changes=changes,
    verdict=verdict,
)
