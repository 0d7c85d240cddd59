"""Compare two requests."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.source import Path


def differences(one: object, other: object, path: Path = ()) -> Iterator[Path]:
    """Yield the paths where two JSON values differ; unlike in Python, 1 differs from true and from 1.0."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in dict.fromkeys((*one, *other)):
            if name in one and name in other:
                yield from differences(one[name], other[name], (*path, name))
            else:
                yield (*path, name)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from differences(first, second, (*path, index))
    elif type(one) is not type(other) or one != other:
        yield path
