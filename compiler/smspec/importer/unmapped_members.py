"""What is left of a request while the parts of a spec are taken out of it; at the end it is the patch in `api`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TypeVar

from smspec.spec.keys.value_forms import TEXT, TEXTS

Kind = TypeVar("Kind")


class UnmappedMembers:
    """A copy of some members. Taking a member removes it, and what holds it once that has become empty."""

    def __init__(self, members: dict[str, object]) -> None:
        self.members = copy.deepcopy(members)

    def text(self, *path: str) -> str | None:
        """Take a text; None, and nothing taken, where there is none."""
        return self.take(path, TEXT.accepts, str)

    def texts(self, *path: str) -> list[str] | None:
        """Take a list of texts that is not empty."""
        return self.take(path, TEXTS.accepts, list)

    def structures(self, accepts: Callable[[dict[str, object]], bool], *path: str) -> list[dict[str, object]] | None:
        """Take a list of objects, not empty, each of them acceptable."""

        def are_acceptable(value: object) -> bool:
            return (
                isinstance(value, list)
                and bool(value)
                and all(isinstance(item, dict) and accepts(item) for item in value)
            )

        return self.take(path, are_acceptable, list[dict[str, object]])

    def take(
        self, path: tuple[str, ...], accepts: Callable[[object], bool], convert: Callable[..., Kind]
    ) -> Kind | None:
        """Take what is at ``path``, converted, if it is acceptable."""
        holders: list[dict[str, object]] = []
        value: object = self.members
        for name in path:
            if not isinstance(value, dict) or name not in value:
                return None
            holders.append(value)
            value = value[name]
        if not accepts(value):
            return None
        for holder, name in zip(reversed(holders), reversed(path), strict=True):
            del holder[name]
            if holder:
                break
        return convert(value)

    def at(self, path: tuple[str, ...]) -> object:
        """Return what is, still, at ``path``; None where there is nothing, as no request has null."""
        value: object = self.members
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def has(self, *path: str) -> bool:
        """Return whether something is left at ``path``."""
        return self.at(path) is not None

    def refuse(self, *path: str) -> None:
        """Say that the request lacks what a spec would send by itself: null in a patch takes it away."""
        holder: object = self.members
        for name in path[:-1]:
            holder = holder.setdefault(name, {}) if isinstance(holder, dict) else None
        if isinstance(holder, dict):
            holder[path[-1]] = None
