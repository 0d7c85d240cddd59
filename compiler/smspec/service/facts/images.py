"""The training images of AWS: deep learning containers, framework containers, and built-in algorithms."""

from __future__ import annotations

import re
from functools import cache

from smspec.service.facts import Row, table
from smspec.source.frozen import dataclass

_NAME = "images"
_ONLY_IN_A_LIST = "dlc-only"
_RELEASE = r"(?P<release>.+?)-(?:cpu|gpu|neuronx?|cu[0-9]+)(?:-.*)?"
_PYTHON = r"py(?P<major>[23])(?P<minor>[0-9]*)"
_TRANSFORMERS = "transformers"
_PY3_IS_PY36 = frozenset({"mxnet-training", "pytorch-training", "tensorflow-training"})
"""Wherever one of their releases has both tags, they name the same image; later releases name the minor version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedImage:
    """One row: an image of a repository.

    ``full_tag``: a longer tag of the same image, empty if there is none. ``aliases``: other names of its version.
    ``base``: the framework below Transformers, with its version.
    ``python``: as the tag shows it, ``py311``; ``py3`` and empty are unknown. ``interpreter``: the version of Python
    that the image is built with, ``3.11``; empty if it is unknown.
    ``processors``: ``cpu``, ``gpu``, ``neuron``, ``neuronx``.
    ``column``: the column of its accounts. ``end_of_patch``: a date; empty if unknown. ``is_of_sdk``: the SDK of
    SageMaker selects it; otherwise only AWS's list of containers has it.
    """

    repository: str
    tag: str
    full_tag: str
    version: str
    aliases: tuple[str, ...]
    base: str
    python: str
    interpreter: str
    processors: tuple[str, ...]
    column: str
    end_of_patch: str
    is_of_sdk: bool

    @property
    def usual_tag(self) -> str:
        """The tag to write: the one that shows CUDA and the operating system, if it is known."""
        return self.full_tag or self.tag

    @property
    def tags(self) -> tuple[str, ...]:
        """Every known tag of the image: the SDK writes an alias of the version into the tag too."""
        written = (self.tag, self.full_tag, *(self._with(self.tag, alias) for alias in self.aliases))
        return tuple(dict.fromkeys(tag for tag in written if tag))

    @property
    def releases(self) -> tuple[str, ...]:
        """The part of a tag before the processor, with the version and with each alias."""
        return tuple(dict.fromkeys(_release(self._with(self.tag, name)) for name in (self.version, *self.aliases)))

    def _with(self, tag: str, version: str) -> str:
        """Return a tag with a different version. In tags of Transformers the version of the base comes first."""
        for beginning in (f"-{_TRANSFORMERS}{self.version}", self.version):
            before, found, after = tag.partition(beginning)
            if found and (found != self.version or not before):
                return before + found.removesuffix(self.version) + version + after
        return tag


def as_of() -> str:
    """The end of a message about something that may have changed since."""
    return table(_NAME).as_of


def date() -> str:
    """Return the date of the table."""
    return table(_NAME).date


@cache
def repositories() -> tuple[str, ...]:
    """Return the repositories of training images, in order."""
    return tuple(dict.fromkeys(line.partition(",")[0] for line in table(_NAME).lines))


@cache
def images_of(repository: str) -> tuple[ListedImage, ...]:
    """Return the images of a repository, in order; none if it is not listed."""
    return tuple(_image(row) for row in table(_NAME).rows(repository))


def python_version(image: ListedImage) -> tuple[int, int] | None:
    """Return the version of Python in an image; None if it is unknown, as for ``py3``.

    A tag need not show it: then a different tag of the same release may.
    """
    if image.interpreter:
        major, _, minor = image.interpreter.partition(".")
        return int(major), int(minor)
    if image.python == "py3" and image.repository in _PY3_IS_PY36:
        return 3, 6
    same = (other for other in images_of(image.repository) if is_same_release(image, other))
    found = {_python(other.python) for other in (image, *(() if image.python else same))} - {None}
    return found.pop() if len(found) == 1 else None


def is_same_release(one: ListedImage, other: ListedImage) -> bool:
    """Return whether two images of a repository are the same software for the same processor."""
    versions = {one.version, *one.aliases} & {other.version, *other.aliases}
    return bool(versions) and (one.base, one.processors) == (other.base, other.processors)


def _python(name: str) -> tuple[int, int] | None:
    match = re.fullmatch(_PYTHON, name)
    if match is None or (match["major"], match["minor"]) == ("3", ""):
        return None
    # The last version of Python 2 is the only one that these images had.
    return int(match["major"]), int(match["minor"] or 7)


def _release(tag: str) -> str:
    match = re.fullmatch(_RELEASE, tag)
    return match["release"] if match else tag


def _image(row: Row) -> ListedImage:
    return ListedImage(
        repository=row["repository"],
        tag=row["tag"],
        full_tag=row["full_tag"],
        version=row["version"],
        aliases=tuple(row["aliases"].split()),
        base=row["base"],
        python=row["python"],
        interpreter=row["interpreter"],
        processors=tuple(row["processor"].split()),
        column=row["accounts"],
        end_of_patch=row["end_of_patch"],
        is_of_sdk=row["sdk_framework"] != _ONLY_IN_A_LIST,
    )
