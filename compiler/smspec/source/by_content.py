"""Remember what was found about values by their content: the jobs of a repository share many values."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")
Found = TypeVar("Found")

_LARGEST = 4096
_MOST = 4096


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
