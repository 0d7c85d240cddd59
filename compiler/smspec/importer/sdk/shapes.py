"""Objects of the SDK's version 3 that describe members of the API: their attributes are its members in snake case."""

from __future__ import annotations

from smspec.importer.sdk.arguments import arguments_of
from smspec.importer.sdk.values import Entries, Instance, Items, Value
from smspec.importer.sdk.variables import NotResolved, Variables
from smspec.service.shapes import Shape, pinned_model

_BY_ARGUMENT = {"s3_uri": "uri", "s3_output_path": "uri", "kms_key_id": "kms_key", "volume_kms_key_id": "kms_key"}
_NOT_KNOWN = "its value is known only when the program runs"


def shape_at(*path: str) -> Shape:
    """Return the shape of a member of CreateTrainingJob; ``*`` is an item of a list."""
    model = pinned_model()
    shape = model.root
    for name in path:
        shape = model.shapes[shape.item if name == "*" else shape.members[name]]
    return shape


def member_names(shape: Shape) -> dict[str, str]:
    """Return the members of a shape by their names without case and underscores."""
    return {name.lower(): name for name in shape.members}


def plain(name: str) -> str:
    return name.replace("_", "").lower()


def as_member(value: Value, shape: Shape, variables: Variables, argument: str) -> object:
    """Return what an object, or a list of them, is in a request; raise `NotResolved` if it is not known."""
    if isinstance(value, Instance | Entries) and shape.kind == "structure":
        given = arguments_of(value) if isinstance(value, Instance) else {str(k): v for k, v in value.values.items()}
        if not value.is_known or (isinstance(value, Instance) and value.positional):
            raise NotResolved(_NOT_KNOWN)
        return structure(given, shape, variables)
    if isinstance(value, Items) and shape.kind == "list":
        if not value.is_known:
            raise NotResolved(_NOT_KNOWN)
        item = pinned_model().shapes[shape.item]
        return [as_member(inner, item, variables, argument) for inner in value.values]
    return variables.json(value, _BY_ARGUMENT.get(argument, argument))


def structure(given: dict[str, Value], shape: Shape, variables: Variables) -> dict[str, object]:
    """Return the members that attributes are; raise `NotResolved` for one that the API does not have."""
    names = member_names(shape)
    found: dict[str, object] = {}
    for name, value in given.items():
        if value is None:
            continue
        member = names.get(plain(name))
        if member is None:
            raise NotResolved(f"the API has no member for `{name}`")
        found[member] = as_member(value, pinned_model().shapes[shape.members[member]], variables, name)
    return found
