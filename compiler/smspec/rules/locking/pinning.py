"""What the rules about locking look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from smspec.diagnostics import Finding
from smspec.source.frozen import dataclass
from smspec.spec.lock import Lock
from smspec.spec.model import BuiltImage


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinning:
    """The image of a job beside the lock of its repository. ``requirements_name``: the file, from the lock."""

    image: BuiltImage
    lock: Lock
    requirements: bytes | None = None
    requirements_name: str = ""


Check: TypeAlias = Callable[[Pinning], Iterator[Finding]]
