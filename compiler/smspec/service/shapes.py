"""The shapes of CreateTrainingJobRequest, as pinned from botocore, the order of members, and access to them.

A request is unchecked when it is read: a missing member, or one of a wrong type, is empty.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Container, Iterator, Mapping
from typing import Any, Literal, TypeGuard

from smspec.source.frozen import dataclass
from smspec_schemas import API_SHAPES

Kind = Literal["structure", "list", "map", "string", "integer", "long", "boolean", "any"]
"""``any``: a type of a newer model that nothing checks."""

ApiPath = tuple["str | int", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One shape of the API model. ``members`` maps a member to the name of its shape, in the order of the model.

    ``item``: the shape of a list's items or a map's values; ``key``: of a map's keys. ``minimum`` and ``maximum`` limit
    the value of a number, the length of anything else.
    """

    name: str
    kind: Kind
    members: dict[str, str]
    required: tuple[str, ...]
    item: str
    key: str
    minimum: int | None
    maximum: int | None
    pattern: str | None
    enum: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """All shapes that a request can consist of. ``date`` is when they were pinned from ``botocore``."""

    botocore: str
    date: str
    root: Shape
    shapes: dict[str, Shape]

    def walk(self) -> Iterator[tuple[ApiPath, Shape]]:
        """Yield every path of a request once, parents first; the step for an item is 0, for a map's value ``*``."""
        return self._below((), self.root)

    def _below(self, path: ApiPath, shape: Shape) -> Iterator[tuple[ApiPath, Shape]]:
        if path:
            yield path, shape
        for member, name in shape.members.items():
            yield from self._below((*path, member), self.shapes[name])
        if shape.kind == "list":
            yield from self._below((*path, 0), self.shapes[shape.item])
        if shape.kind == "map":
            yield from self._below((*path, "*"), self.shapes[shape.item])


def decode_shape(name: str, entry: Mapping[str, Any]) -> Shape:
    """Return the shape of an entry in a file of shapes, whose members are those of botocore's models."""
    return Shape(
        name=name,
        kind=entry["type"],
        members=entry.get("members", {}),
        required=tuple(entry.get("required", ())),
        item=entry.get("member") or entry.get("value") or "",
        key=entry.get("key", ""),
        minimum=entry.get("min"),
        maximum=entry.get("max"),
        pattern=entry.get("pattern"),
        enum=tuple(entry.get("enum", ())),
    )


def decode_model(text: str) -> Model:
    """Parse a file of pinned shapes."""
    data = json.loads(text)
    shapes = {name: decode_shape(name, entry) for name, entry in data["shapes"].items()}
    return Model(botocore=data["botocore"], date=data["date"], root=shapes[data["root"]], shapes=shapes)


@functools.cache
def pinned_model() -> Model:
    """Return the model that this version of smspec contains."""
    with open(API_SHAPES, encoding="utf-8") as file:
        return decode_model(file.read())


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


def is_real(value: object) -> TypeGuard[int | float]:
    """Return whether a value of JSON is a number; true and false are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def repeated(listed: list[object], name: str) -> Iterator[tuple[int, str]]:
    """Yield the index of every item whose string ``name`` an earlier item has too, and that string."""
    seen: set[str] = set()
    for index, item in enumerate(listed):
        text = member(item, name)
        if isinstance(text, str):
            if text in seen:
                yield index, text
            seen.add(text)
