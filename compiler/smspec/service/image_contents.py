"""What the images of AWS have installed, as far as it is public: the version of Python, and packages."""

from __future__ import annotations

from functools import lru_cache

from smspec.service.facts.images import ListedImage, python_version
from smspec.service.facts.packages import packages_in
from smspec.service.image_names import Unavailable, parsed_name, selected
from smspec.service.image_reference import parsed_reference
from smspec.service.provided_image import provided_image


def packages_of(image: str) -> frozenset[str] | None:
    """Return the distributions that an image contains at least; None if they are unknown.

    ``image`` is a URI with a tag, or a short name. A mirror of an image of AWS is unknown, because its owner may have
    changed it.
    """
    return next((found for row in _rows(image) if (found := packages_in(row)) is not None), None)


def python_of(image: str) -> tuple[int, int] | None:
    """Return the version of Python in an image, as `packages_of`; None if it is unknown."""
    return next((found for row in _rows(image) if (found := python_version(row)) is not None), None)


@lru_cache(maxsize=256)  # jobs of a repository share images
def _rows(image: str) -> tuple[ListedImage, ...]:
    reference = parsed_reference(image)
    if reference is None:
        return ()
    if reference.registry is not None:
        provided = provided_image(image)
        return () if provided is None else provided.listed
    name = parsed_name(image)
    found = None if name is None else selected(name, frozenset())
    return () if found is None or isinstance(found, Unavailable) else (found[0],)
