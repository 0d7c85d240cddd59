"""The input of the rules about locking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from smspec.diagnostics import Finding
from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec.spec.lock import Lock
from smspec.spec.model import BuiltImage

LockedPackages: TypeAlias = Literal["locked", "missing", "not locked", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinning:
    """The image of a job and the lock of its repository.

    ``requirements_name``: the file's path, relative to the lockfile. ``packages``: whether the lock has all packages of
    the image; ``missing`` if it does not, although `smspec lock` would add them. ``locked_file``: the path of their
    requirements file, from the lockfile; ``fault``: why it cannot be used, as the end of a sentence.
    """

    image: BuiltImage
    lock: Lock
    requirements: bytes | None = None
    requirements_name: str = ""
    packages: LockedPackages = "not locked"
    locked_file: str = ""
    fault: str = ""

    @property
    def packages_path(self) -> Path:
        """Where the spec lists the packages."""
        return ("image", "python_packages" if self.image.python_requirements is None else "python_requirements")


Check: TypeAlias = Callable[[Pinning], Iterator[Finding]]
