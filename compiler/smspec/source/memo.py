"""Remember what was found about values that the jobs of a repository share, by their content or identity."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")
Found = TypeVar("Found")

_LARGEST = 4096
_MOST = 4096

_MOST_SHARED = 128


class ByContent(Generic[Found]):
    """What was found about small values of plain data. It must depend on nothing except the value and the ``subject``.

    It forgets everything after some thousand values, so that it stays small.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[tuple[Hashable, bytes], Found] = {}

    def of(self, subject: Hashable, value: Value, find: Callable[[Value], Found]) -> Found:
        """Return what ``find`` returns for a value; of an equal value, the object that it returned then."""
        # The bytes of version 2 depend on the content alone. Unlike `==`, they distinguish 1, 1.0, and true.
        content = marshal.dumps(value, 2)  # type: ignore[arg-type]  # it is plain data
        key = subject, content
        if key in self._known:
            return self._known[key]
        found = find(value)
        if len(content) <= _LARGEST:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = found
        return found


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
        if len(self._known) >= _MOST_SHARED:
            self._before, self._known = self._known, {}
        self._known[key] = known
        return known[0]
