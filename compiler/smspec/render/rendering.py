"""The output of a target: a text, and notes for its reader, such as what a different tool does not support."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.source import Path, dotted
from smspec.source.frozen import dataclass

Members = frozenset[tuple[str, ...]]
"""Paths of members, without the indexes of items; one includes everything below it."""


class NothingToRender(Exception):
    """The job has no such file; the text explains why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """``notes`` are sentences for the reader, such as limits of the text; they are not part of the text."""

    text: str
    notes: tuple[str, ...] = ()


def without_place(payload: dict[str, object], unknown: Members) -> list[str]:
    """Return the paths of the members of ``payload`` that are ``unknown`` to a tool."""
    return [dotted(path) for path in _unsupported((), (), payload, unknown)]


def _unsupported(path: Path, names: tuple[str, ...], value: object, unknown: Members) -> Iterator[Path]:
    if names in unknown:
        yield path
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _unsupported((*path, name), (*names, name), inner, unknown)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _unsupported((*path, index), names, inner, unknown)
