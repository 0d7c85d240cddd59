"""What AWS documents of its launchers: instance types, and the last version of PyTorch, as tags of images show it."""

from __future__ import annotations

import re
from functools import cache

from smspec.service.facts import table
from smspec.service.image_reference import ImageReference
from smspec.source.frozen import dataclass

_NAME = "launchers"
_OF_PYTORCH = ("pytorch", "pytorch-training")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedLauncher:
    """``last_version``: of PyTorch. ``as_of`` ends a sentence about what may have changed since."""

    types: frozenset[str]
    last_version: tuple[int, ...]
    as_of: str


@cache
def documented_launcher(name: str) -> DocumentedLauncher:
    """Return what AWS documents of a launcher of the table."""
    (row,) = table(_NAME).rows(name)
    return DocumentedLauncher(
        types=frozenset(row["types"].split()),
        last_version=tuple(map(int, row["last_version"].split("."))),
        as_of=table(_NAME).as_of,
    )


def pytorch_version(image: ImageReference | None) -> tuple[int, ...] | None:
    """Return the version in the tag; None for any other image, or a tag without one."""
    if image is None or image.account is None or image.repository not in _OF_PYTORCH:
        return None
    match = re.match(r"([0-9]{1,3})\.([0-9]{1,3})(?:\.([0-9]{1,3}))?(?=-)", image.tag or "")
    return tuple(int(part or 0) for part in match.groups()) if match else None
