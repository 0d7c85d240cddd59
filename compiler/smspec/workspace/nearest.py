"""The nearest file, from a directory upwards, and what it contains."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Held = TypeVar("Held")


class Nearest(Generic[Held]):
    """Looks into each directory once: the specs of a repository share the directories above them."""

    def __init__(self, look: Callable[[str], Held | None]) -> None:
        self._look = look
        self._held: dict[str, Held | None] = {}

    def of(self, upwards: Iterable[str]) -> Held | None:
        """Return what ``look`` finds in the first directory that has anything; None if none has."""
        passed: list[str] = []
        held: Held | None = None
        for directory in upwards:
            passed.append(directory)
            held = self._held[directory] if directory in self._held else self._look(directory)
            if directory in self._held or held is not None:
                break
        self._held.update(dict.fromkeys(passed, held))
        return held
