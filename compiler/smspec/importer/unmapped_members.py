"""The members of a request that are not yet imported; at the end they are the patch in `api`.

The patch is not made from the rendered request: its differences would hide the errors of a part. That request is only
compared.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TypeVar, cast

from smspec.importer.marks import is_mark
from smspec.spec.keys.row import TEXT, TEXTS

Kind = TypeVar("Kind")


class UnmappedMembers:
    """A copy of some members. Taking a member removes it, and its parent if that becomes empty."""

    def __init__(self, members: dict[str, object]) -> None:
        self.members = copy.deepcopy(members)

    def text(self, *path: str) -> str | None:
        """Remove and return a string; None, without a change, if there is none."""
        return self.take(path, TEXT.accepts, str)

    def texts(self, *path: str) -> list[str] | None:
        """Remove and return a list of strings that is not empty."""
        return self.take(path, TEXTS.accepts, list)

    def structures(self, accepts: Callable[[dict[str, object]], bool], *path: str) -> list[dict[str, object]] | None:
        """Remove and return a list of objects, not empty, if all of them are acceptable; never a variable."""

        def are_acceptable(value: object) -> bool:
            return (
                isinstance(value, list)
                and bool(value)
                and all(isinstance(item, dict) and accepts(item) for item in value)
            )

        return None if is_mark(self.at(path)) else self.take(path, are_acceptable, list[dict[str, object]])

    def take(
        self, path: tuple[str, ...], accepts: Callable[[object], bool], convert: Callable[..., Kind]
    ) -> Kind | None:
        """Remove and return the value at ``path``, converted, if it is acceptable."""
        holders: list[dict[str, object]] = []
        value: object = self.members
        for name in path:
            if not isinstance(value, dict) or name not in value:
                return None
            holders.append(value)
            value = value[name]
        is_variable = is_mark(value)
        if not is_variable and not accepts(value):
            return None
        for holder, name in zip(reversed(holders), reversed(path), strict=True):
            del holder[name]
            if holder:
                break
        return cast("Kind", value) if is_variable else convert(value)

    def at(self, path: tuple[str, ...]) -> object:
        """Return the remaining value at ``path``; None if there is none, because no request contains null."""
        value: object = self.members
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def has(self, *path: str) -> bool:
        """Return whether a value remains at ``path``."""
        return self.at(path) is not None

    def refuse(self, *path: str) -> None:
        """Record that the request lacks what a spec would send by default: null in a patch removes it."""
        holder: object = self.members
        for name in path[:-1]:
            holder = holder.setdefault(name, {}) if isinstance(holder, dict) else None
        if isinstance(holder, dict):
            holder[path[-1]] = None
