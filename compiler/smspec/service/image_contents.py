"""What the images of AWS have installed, as far as it is public: the version of Python, and modules."""

from __future__ import annotations

from functools import lru_cache

from smspec.service.facts import packages
from smspec.service.facts.images import ListedImage, python_version
from smspec.service.facts.packages import modules_in
from smspec.service.image_names import Unavailable, parsed_name, selected
from smspec.service.image_reference import parsed_reference
from smspec.service.processors import Processor
from smspec.service.provided_image import provided_image

_HOSTS: tuple[frozenset[Processor], ...] = (
    frozenset(),
    frozenset({"cpu"}),
    frozenset({"gpu"}),
    frozenset({"neuron"}),
)


def modules_of(image: str) -> frozenset[str] | None:
    """Return the first parts of the modules that the packages of an image provide; None if they are unknown.

    ``image`` is a URI with a tag, or a short name. A mirror of an image of AWS is unknown, because its owner may have
    changed it.
    """
    found = {modules_in(row) for row in _rows(image)}
    return found.pop() if len(found) == 1 else None


def modules_as_of() -> str:
    """The end of a message about modules that may have changed since."""
    return packages.as_of()


def python_of(image: str) -> tuple[int, int] | None:
    """Return the version of Python in an image, as `modules_of`; None if it is unknown.

    A short name without a processor is enough if the images of its release have the same Python.
    """
    found = {python_version(row) for row in _rows(image)}
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=256)  # jobs of a repository share images
def _rows(image: str) -> tuple[ListedImage, ...]:
    reference = parsed_reference(image)
    if reference is None:
        return ()
    if reference.registry is not None:
        provided = provided_image(image)
        return () if provided is None else provided.listed
    name = parsed_name(image)
    if name is None:
        return ()
    found = [selected(name, hosts) for hosts in _HOSTS]
    return tuple(dict.fromkeys(each[0] for each in found if not isinstance(each, Unavailable)))
