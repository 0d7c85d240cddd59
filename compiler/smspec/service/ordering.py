"""The order of request members in the API model, which is the order of the API reference."""

from __future__ import annotations

import functools

from smspec.service.shapes import Shape, pinned_model


def in_api_order(request: dict[str, object]) -> dict[str, object]:
    """Return the request with the members of every structure in the order of the model, unknown ones last.

    The entries of maps and the items of lists stay in their order.
    """
    return dict(_members(pinned_model().root, request))


def _members(shape: Shape, value: dict[str, object]) -> list[tuple[str, object]]:
    shapes, places = pinned_model().shapes, _places(shape.name)
    known = sorted([name for name in value if name in places], key=places.__getitem__)
    unknown = [(name, inner) for name, inner in value.items() if name not in places]
    return [(name, _ordered(shapes[shape.members[name]], value[name])) for name in known] + unknown


@functools.cache
def _places(structure: str) -> dict[str, int]:
    return {name: place for place, name in enumerate(pinned_model().shapes[structure].members)}


def _ordered(shape: Shape, value: object) -> object:
    if shape.kind == "structure" and isinstance(value, dict):
        return dict(_members(shape, value))
    if shape.kind == "list" and isinstance(value, list):
        return [_ordered(pinned_model().shapes[shape.item], item) for item in value]
    return value
