"""The Python packages in images of AWS, as far as they are public."""

from __future__ import annotations

from functools import cache

from smspec.service.facts.images import ListedImage, images_of, is_same_release
from smspec.service.facts.table import table

_NAME = "image_packages"


def as_of() -> str:
    """The end of a message about something that may have changed since."""
    return table(_NAME).as_of


@cache
def packages_in(image: ListedImage) -> frozenset[str] | None:
    """Return the distributions that an image contains at least; None if they are not public."""
    column = _column(image)
    if column is None:
        return None
    first = table(_NAME).columns[0]
    return frozenset(row[first] for row in table(_NAME).rows() if row[column])


def _column(image: ListedImage) -> str | None:
    """Return the column of an image: that of one of its tags, or of a different tag of the same release."""
    tagged = {f"{image.repository}:{tag}" for tag in image.tags}
    for column in table(_NAME).columns[1:]:
        repository, _, tag = column.partition(":")
        if column in tagged:
            return column
        if repository == image.repository and any(
            tag in other.tags and is_same_release(image, other) for other in images_of(repository)
        ):
            return column
    return None
