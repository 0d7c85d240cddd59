"""The order of request members in the API model, which is the order of the API reference."""

from __future__ import annotations

import functools

from smspec.service.shapes import Model, Shape, pinned_model


def in_api_order(request: dict[str, object]) -> dict[str, object]:
    """Return the request with the members of every structure in the order of the model, unknown ones last.

    The entries of maps and the items of lists stay in their order.
    """
    model = pinned_model()
    return dict(_members(model, model.root, request))


def _members(model: Model, shape: Shape, value: dict[str, object]) -> list[tuple[str, object]]:
    places = _places(shape.name)
    known = sorted([name for name in value if name in places], key=places.__getitem__)
    unknown = [(name, inner) for name, inner in value.items() if name not in places]
    return [(name, _ordered(model, model.shapes[shape.members[name]], value[name])) for name in known] + unknown


@functools.cache
def _places(structure: str) -> dict[str, int]:
    return {name: place for place, name in enumerate(pinned_model().shapes[structure].members)}


def _ordered(model: Model, shape: Shape, value: object) -> object:
    if shape.kind == "structure" and isinstance(value, dict):
        return dict(_members(model, shape, value))
    if shape.kind == "list" and isinstance(value, list):
        return [_ordered(model, model.shapes[shape.item], item) for item in value]
    return value
