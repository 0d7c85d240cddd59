"""What is left of a request while the parts of a spec are taken out of it; at the end it is the patch in `api`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TypeVar, get_args

from smspec.diagnostics.durations import duration

Kind = TypeVar("Kind")


class Remainder:
    """A copy of some members. Taking a member removes it, and what holds it once that has become empty."""

    def __init__(self, members: dict[str, object]) -> None:
        self.members = copy.deepcopy(members)

    def text(self, *path: str) -> str | None:
        """Take a text; None, and nothing taken, where there is none."""
        return self.take(path, lambda value: isinstance(value, str), str)

    def word(self, choices: object, *path: str) -> str | None:
        """Take a text that is one of the words of a ``Literal``; the API has some that no key of a spec has."""
        words = get_args(choices)
        return self.take(path, lambda value: isinstance(value, str) and value in words, str)

    def number(self, *path: str) -> int | None:
        """Take a whole number."""
        return self.take(path, is_number, int)

    def amount(self, *path: str) -> int | None:
        """Take a whole number of at least 1, as keys for counts, sizes and durations ask for."""
        return self.take(path, is_amount, int)

    def duration(self, *path: str) -> str | None:
        """Take a number of seconds, at least 1, as a spec writes it."""
        seconds = self.amount(*path)
        return None if seconds is None else duration(seconds)

    def truth(self, *path: str) -> bool | None:
        """Take true or false."""
        return self.take(path, lambda value: isinstance(value, bool), bool)

    def texts(self, *path: str) -> list[str] | None:
        """Take a list of texts that is not empty."""
        return self.take(path, _is_texts, list)

    def text_map(self, *path: str) -> dict[str, str] | None:
        """Take a mapping of texts that is not empty."""
        return self.take(path, _is_text_map, dict)

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

    def has(self, *path: str) -> bool:
        """Tell whether there is, still, something at ``path``."""
        value: object = self.members
        for name in path:
            if not isinstance(value, dict) or name not in value:
                return False
            value = value[name]
        return True

    def refuse(self, *path: str) -> None:
        """Say that the request lacks what a spec would send by itself: null in a patch takes it away."""
        holder: object = self.members
        for name in path[:-1]:
            holder = holder.setdefault(name, {}) if isinstance(holder, dict) else None
        if isinstance(holder, dict):
            holder[path[-1]] = None


def is_number(value: object) -> bool:
    """Tell whether a value is a whole number, which true is not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_amount(value: object) -> bool:
    """Tell whether a value is a whole number of at least 1."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _is_text_map(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(item, str) for item in value.values())
