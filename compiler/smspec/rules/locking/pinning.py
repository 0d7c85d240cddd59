"""The input of the rules about locking."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from smspec.diagnostics import Finding
from smspec.source.frozen import dataclass
from smspec.spec.lock import Lock
from smspec.spec.model import BuiltImage


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinning:
    """The image of a job and the lock of its repository.

    ``requirements_name``: the file's path, relative to the lockfile.
    """

    image: BuiltImage
    lock: Lock
    requirements: bytes | None = None
    requirements_name: str = ""


Check: TypeAlias = Callable[[Pinning], Iterator[Finding]]
