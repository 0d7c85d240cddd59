"""The order of request members in the API model, which is the order of the API reference."""

from __future__ import annotations

import functools
from collections.abc import Container

from smspec.service.shapes import Shape, pinned_model


def in_api_order(request: dict[str, object], ordered: Container[str] = ()) -> dict[str, object]:
    """Return the request with the members of every structure in the order of the model, unknown ones last.

    The entries of maps and the items of lists stay in their order. The members ``ordered`` are in order.
    """
    return _structure(pinned_model().root, request, ordered)


def _structure(shape: Shape, value: dict[str, object], done: Container[str] = ()) -> dict[str, object]:
    members = _members(shape.name)
    if len(value) == 1:
        ((name, inner),) = value.items()
        return {name: _ordered(members[name], inner) if name in members else inner}
    ordered = {
        name: value[name] if name in done else _ordered(inner, value[name])
        for name, inner in members.items()
        if name in value
    }
    if len(ordered) < len(value):
        ordered.update((name, inner) for name, inner in value.items() if name not in members)
    return ordered


@functools.cache
def _members(structure: str) -> dict[str, Shape | None]:
    """Return the shapes of the members of a structure, in order; None where there is nothing to order."""
    shapes = pinned_model().shapes
    return {name: _with_order(shapes[kind]) for name, kind in shapes[structure].members.items()}


def _with_order(shape: Shape) -> Shape | None:
    if shape.kind == "structure":
        return shape
    item = shape.item if shape.kind == "list" else ""
    return shape if item and _with_order(pinned_model().shapes[item]) else None


def _ordered(shape: Shape | None, value: object) -> object:
    if shape is None:
        return value
    if isinstance(value, dict):
        return _structure(shape, value) if shape.kind == "structure" else value
    if shape.kind == "list" and isinstance(value, list):
        inner = pinned_model().shapes[shape.item]
        return [_ordered(inner, item) for item in value]
    return value
