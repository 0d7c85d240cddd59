"""The members of a request that a different tool does not support."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.source import Path, dotted

Members = frozenset[tuple[str, ...]]
"""Paths of members, without the indexes of items; one includes everything below it."""


def without_place(payload: dict[str, object], unknown: Members) -> list[str]:
    """Return the paths of the members of ``payload`` that are ``unknown`` to a tool."""
    return [dotted(path) for path in _below((), (), payload, unknown)]


def _below(path: Path, names: tuple[str, ...], value: object, unknown: Members) -> Iterator[Path]:
    if names in unknown:
        yield path
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _below((*path, name), (*names, name), inner, unknown)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _below((*path, index), names, inner, unknown)
