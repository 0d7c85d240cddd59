"""The modules that Python packages provide in images of AWS, as far as these are public.

An image counts if its lock, the lines of its Dockerfile that install more, and the lists of files of these versions are
public. A tag moves with each build, so a missing module is a warning.
"""

from __future__ import annotations

from functools import cache

from smspec.service.facts.images import ListedImage, images_of, is_same_release
from smspec.service.facts.table import table

_NAME = "image_packages"
_MODULES = 1
_FIRST_IMAGE = 2
_NONE = "-"


def as_of() -> str:
    """The end of a message about something that may have changed since."""
    return table(_NAME).as_of


@cache
def modules_in(image: ListedImage) -> frozenset[str] | None:
    """Return the first parts of the modules that the packages of an image provide; None if they are not all known."""
    column = _column(image)
    if column is None:
        return None
    # No cell contains a quote or a comma.
    rows = (line.split(",") for line in table(_NAME).lines)
    found = {row[_MODULES] for row in rows if row[column]}
    return None if "" in found else frozenset(name for cell in found - {_NONE} for name in cell.split())


def _column(image: ListedImage) -> int | None:
    """Return the column of an image: that of one of its tags, or of a different tag of the same release."""
    for number, column in enumerate(table(_NAME).columns[_FIRST_IMAGE:], _FIRST_IMAGE):
        repository, _, tag = column.partition(":")
        if repository == image.repository and any(
            tag in other.tags and is_same_release(image, other) for other in images_of(repository)
        ):
            return number
    return None
