"""Files with one name, from the top of a repository down to a directory."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

from smspec.workspace.boundary import Boundary

Found = TypeVar("Found")


def file_in(directory: str, name: str) -> str | None:
    """Return the path of what has a name in a directory itself, relative to the current one; or None.

    It may be no regular file: a reader reports that, because a file that is skipped is a way around what it contains.
    """
    path = os.path.join(directory, name)
    return os.path.relpath(path) if os.path.lexists(path) else None


class Layers(Generic[Found]):
    """Looks into each directory once: the specs of a repository share the directories above them."""

    def __init__(self, look: Callable[[str, Boundary], Found | None]) -> None:
        self._look = look
        self._known: dict[tuple[str, str], tuple[Found, ...]] = {}  # by the root of the boundary
        self._asked: dict[tuple[str, str], tuple[Found, ...]] = {}

    def of(self, directory: str, boundary: Boundary) -> tuple[Found, ...]:
        """Return what ``look`` finds in a directory and those above it inside of the boundary, the outermost first."""
        question = boundary.root, directory
        if question not in self._asked:
            self._asked[question] = self._search(directory, boundary)
        return self._asked[question]

    def _search(self, directory: str, boundary: Boundary) -> tuple[Found, ...]:
        passed: list[str] = []
        found: tuple[Found, ...] = ()
        for above in boundary.upwards(directory):
            if (boundary.root, above) in self._known:
                found = self._known[boundary.root, above]
                break
            passed.append(above)
        for above in reversed(passed):
            here = self._look(above, boundary)
            found = found if here is None else (*found, here)
            self._known[boundary.root, above] = found
        return found
