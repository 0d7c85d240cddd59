"""The nearest file, from a directory upwards, and what it contains."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

from smspec.workspace.boundary import Boundary

Found = TypeVar("Found")


def file_in(directory: str, name: str, boundary: Boundary) -> str | None:
    """Return the path of a file in a directory itself, relative to the current one; or None."""
    path = os.path.join(directory, name)
    return os.path.relpath(path) if os.path.lexists(path) and not boundary.is_directory(path) else None


class Nearest(Generic[Found]):
    """Looks into each directory once: the specs of a repository share the directories above them."""

    def __init__(self, look: Callable[[str, Boundary], Found | None]) -> None:
        self._look = look
        self._known: dict[str, dict[str, Found | None]] = {}  # by the root of the boundary
        self._asked: dict[tuple[str, str], Found | None] = {}

    def of(self, directory: str, boundary: Boundary) -> Found | None:
        """Return what ``look`` finds in a directory or the nearest one above; None if there is nothing inside."""
        question = boundary.root, directory
        if question not in self._asked:
            self._asked[question] = self._search(directory, boundary)
        return self._asked[question]

    def _search(self, directory: str, boundary: Boundary) -> Found | None:
        known = self._known.setdefault(boundary.root, {})
        passed: list[str] = []
        found: Found | None = None
        for above in boundary.upwards(directory):
            passed.append(above)
            found = known[above] if above in known else self._look(above, boundary)
            if above in known or found is not None:
                break
        known.update(dict.fromkeys(passed, found))
        return found
