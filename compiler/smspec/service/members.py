"""Access to the members of an unchecked request: a missing member, or one of a wrong type, is empty."""

from __future__ import annotations

from collections.abc import Iterator


def member(value: object, *steps: str) -> object:
    """Return the member at ``steps``, or None."""
    for step in steps:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def structure(value: object, *steps: str) -> dict[str, object]:
    """Return the mapping at ``steps``, or an empty one."""
    for step in steps:
        if not isinstance(value, dict):
            return {}
        value = value.get(step)
    return value if isinstance(value, dict) else {}


def items(value: object, *steps: str) -> list[object]:
    """Return the list at ``steps``, or an empty one."""
    for step in steps:
        if not isinstance(value, dict):
            return []
        value = value.get(step)
    return value if isinstance(value, list) else []


def number(value: object, *steps: str) -> int | None:
    """Return the integer at ``steps``, or None; true and false are not integers."""
    found = member(value, *steps)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def repeated(listed: list[object], name: str) -> Iterator[tuple[int, str]]:
    """Yield the index of every item whose string ``name`` an earlier item has too, and that string."""
    seen: set[str] = set()
    for index, item in enumerate(listed):
        text = member(item, name)
        if isinstance(text, str):
            if text in seen:
                yield index, text
            seen.add(text)
