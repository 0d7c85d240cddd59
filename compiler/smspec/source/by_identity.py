"""Remember what was found about frozen values that the jobs of a repository share as one object."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Found = TypeVar("Found")

_MOST = 128


class ByIdentity(Generic[Found]):
    """What was found about objects that never change. It must depend on nothing except them and the ``subject``.

    It keeps the objects, so that no other one gets the identity of one of them, and forgets those that some hundred
    others were asked about since: what one job alone has would soon take more time in memory than it saves.
    """

    __slots__ = ("_before", "_known")

    def __init__(self) -> None:
        self._known: dict[tuple[Hashable, ...], tuple[Found, tuple[object, ...]]] = {}
        self._before: dict[tuple[Hashable, ...], tuple[Found, tuple[object, ...]]] = {}

    def of(self, subject: Hashable, value: object, find: Callable[[], Found]) -> Found:
        """Return what ``find`` returns about an object; when asked again, the object that it returned then."""
        # This runs a hundred times for each job.
        key = subject, id(value)
        known = self._known.get(key)
        return known[0] if known is not None else self._find(key, (value,), find)

    def of_all(self, subject: Hashable, objects: tuple[object, ...], find: Callable[[], Found]) -> Found:
        """Return what ``find`` returns about several objects, as `of` does."""
        key = (subject, *map(id, objects))
        known = self._known.get(key)
        return known[0] if known is not None else self._find(key, objects, find)

    def _find(self, key: tuple[Hashable, ...], objects: tuple[object, ...], find: Callable[[], Found]) -> Found:
        known = self._before.get(key) or (find(), objects)
        if len(self._known) >= _MOST:
            self._before, self._known = self._known, {}
        self._known[key] = known
        return known[0]
