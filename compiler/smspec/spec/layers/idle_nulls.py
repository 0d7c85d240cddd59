"""Nulls that remove nothing: no lower layer has such a key."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.source import Mapping, Node, Path, Scalar, Sequence, Span
from smspec.spec.layers.merging import is_null

Idle = tuple[Path, Span]

# Their nulls inside lists are JSON values, and are sent.
_JSON = ("hyperparameters", "api")


def idle_nulls(spec: Mapping | None, layer: Mapping) -> Iterator[Idle]:
    """Yield the path and the position of each null in ``layer`` that has no counterpart in ``spec``.

    Both are in their long form. A null in `api` may still remove a member of the request.
    """
    for key, value in layer.entries:
        if _has_null(value):  # few have one
            beneath = spec.get(key.text) if spec is not None else None
            yield from _idle(beneath, value, (key.text,), key.span)


def _has_null(node: Node) -> bool:
    if isinstance(node, Scalar):
        return node.value is None
    parts = node.items if isinstance(node, Sequence) else [value for _, value in node.entries]
    for part in parts:  # noqa: SIM110
        if part.value is None if isinstance(part, Scalar) else _has_null(part):
            return True
    return False


def _idle(beneath: Node | None, value: Node, path: Path, place: Span) -> Iterator[Idle]:
    if is_null(value):
        if beneath is None or is_null(beneath):
            yield path, place
    elif isinstance(value, Mapping):
        for key, inner in value.entries:
            below = beneath.get(key.text) if isinstance(beneath, Mapping) else None
            yield from _idle(below, inner, (*path, key.text), key.span)
    elif isinstance(value, Sequence) and not is_json(path):
        for index, item in enumerate(value.items):
            if isinstance(item, Mapping):
                yield from _idle(None, item, (*path, index), item.span)


def is_json(path: Path) -> bool:
    """Return whether a path leads into values that are sent unchanged."""
    return path[0] in _JSON or is_patch(path)


def is_patch(path: Path) -> bool:
    """Return whether a path leads into a patch on the request, whose nulls remove members of the request."""
    return path[0] == "api" or (path[0] == "channels" and path[2:3] == ("api",))
