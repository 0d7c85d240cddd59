"""Reaching into a request whose shape is not known to be right: what is not there, or not of its kind, is empty."""

from __future__ import annotations

from collections.abc import Iterator


def member(value: object, *steps: str) -> object:
    """Return the member that ``steps`` lead to, or None."""
    for step in steps:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def structure(value: object, *steps: str) -> dict[str, object]:
    """Return the mapping that ``steps`` lead to, or an empty one."""
    found = member(value, *steps)
    return found if isinstance(found, dict) else {}


def items(value: object, *steps: str) -> list[object]:
    """Return the list that ``steps`` lead to, or an empty one."""
    found = member(value, *steps)
    return found if isinstance(found, list) else []


def number(value: object, *steps: str) -> int | None:
    """Return the whole number that ``steps`` lead to, or None; true and false are none."""
    found = member(value, *steps)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def repeated(listed: list[object], name: str) -> Iterator[tuple[int, str]]:
    """Yield the index of every item whose text ``name`` an earlier item has too, and that text."""
    seen: set[str] = set()
    for index, item in enumerate(listed):
        text = member(item, name)
        if isinstance(text, str):
            if text in seen:
                yield index, text
            seen.add(text)
