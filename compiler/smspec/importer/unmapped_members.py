"""The members of a request that are not yet imported; at the end they are the patch in `api`.

What no spec can express is removed first: nulls, keys that look like variables, surrogates, and variables in the place
of a list of objects or a mapping, since the variable of a spec is one value. Then rows take their members, each if its
key can express the whole value.

The patch is not made from the rendered request: its differences would hide the errors of a part. That request is only
compared.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING
from typing import TypeVar, cast

from smspec.importer.imported import NotImported, without_tags
from smspec.importer.marks import is_mark
from smspec.service.request import OWN_TAGS
from smspec.service.shapes import Shape, pinned_model
from smspec.source import Path
from smspec.source.frozen import fields
from smspec.spec.keys import rows_below
from smspec.spec.keys.row import TEXT, TEXTS, KeyRow, StructureForm, StructureListForm, ValueForm

Kind = TypeVar("Kind")

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_VARIABLE = "${{"


class UnmappedMembers:
    """A copy of some members. Taking a member removes it, and its parent if that becomes empty."""

    def __init__(self, members: dict[str, object]) -> None:
        self.members = copy.deepcopy(members)

    def text(self, *path: str) -> str | None:
        """Remove and return a string; None, without a change, if there is none."""
        return self.take(path, TEXT.accepts, str)

    def texts(self, *path: str) -> list[str] | None:
        """Remove and return a list of strings that is not empty."""
        return self.take(path, TEXTS.accepts, list)

    def structures(self, accepts: Callable[[dict[str, object]], bool], *path: str) -> list[dict[str, object]] | None:
        """Remove and return a list of objects, not empty, if all of them are acceptable; never a variable."""

        def are_acceptable(value: object) -> bool:
            return (
                isinstance(value, list)
                and bool(value)
                and all(isinstance(item, dict) and accepts(item) for item in value)
            )

        return None if is_mark(self.at(path)) else self.take(path, are_acceptable, list[dict[str, object]])

    def take(
        self, path: tuple[str, ...], accepts: Callable[[object], bool], convert: Callable[..., Kind]
    ) -> Kind | None:
        """Remove and return the value at ``path``, converted, if it is acceptable."""
        holders: list[dict[str, object]] = []
        value: object = self.members
        for name in path:
            if not isinstance(value, dict) or name not in value:
                return None
            holders.append(value)
            value = value[name]
        is_variable = is_mark(value)
        if not is_variable and not accepts(value):
            return None
        for holder, name in zip(reversed(holders), reversed(path), strict=True):
            del holder[name]
            if holder:
                break
        return cast("Kind", value) if is_variable else convert(value)

    def at(self, path: tuple[str, ...]) -> object:
        """Return the remaining value at ``path``; None if there is none, because no request contains null."""
        value: object = self.members
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def has(self, *path: str) -> bool:
        """Return whether a value remains at ``path``."""
        return self.at(path) is not None

    def refuse(self, *path: str) -> None:
        """Record that the request lacks what a spec would send by default: null in a patch removes it."""
        holder: object = self.members
        for name in path[:-1]:
            holder = holder.setdefault(name, {}) if isinstance(holder, dict) else None
        if isinstance(holder, dict):
            holder[path[-1]] = None


def taken(rest: UnmappedMembers, rows: Iterable[KeyRow], outside: int = 0) -> dict[str, object]:
    """Import what the rows have keys for. An irregular row is left to its function.

    ``outside``: how many steps of a member are outside the remaining request.
    """
    found = {row.name: take(rest, row, outside) for row in rows if row.member and not row.irregular}
    return {name: value for name, value in found.items() if value is not None}


def take(rest: UnmappedMembers, row: KeyRow, outside: int = 0) -> object:
    """Import the value of a key; None, and remove nothing, if the key cannot express the value of the request."""
    form, path = row.form, row.steps[outside:]
    if isinstance(form, ValueForm):
        return rest.take(path, form.accepts, form.write)
    below = rows_below(row.path if isinstance(form, StructureForm) else f"{row.path}.*")
    if isinstance(form, StructureListForm):
        inside = len(row.steps) + 1
        items = rest.structures(lambda item: _is_item(item, below, inside, form), *path)
        return items and [taken(UnmappedMembers(item), below, inside) for item in items]
    if not isinstance(form, StructureForm):
        return None
    required = [inner for inner in below if inner.name in _required(form)]
    if not all(_is_sayable(rest, inner, outside) for inner in required):
        return None
    values = taken(rest, below, outside)
    return values[form.short] if values.keys() == {form.short} else values or None


def _is_sayable(rest: UnmappedMembers, row: KeyRow, outside: int) -> bool:
    return isinstance(row.form, ValueForm) and row.form.accepts(rest.at(row.steps[outside:]))


def _is_item(item: dict[str, object], below: tuple[KeyRow, ...], inside: int, form: StructureListForm) -> bool:
    """Return whether an item has only members of its keys: there is no patch for the rest."""
    left = UnmappedMembers(item)
    return _required(form) <= taken(left, below, inside).keys() and not left.members


def _required(form: StructureForm | StructureListForm) -> set[str]:
    """Return the fields without a default."""
    declared = fields(cast("type", form.kind))
    return {field.name for field in declared if field.default is MISSING and field.default_factory is MISSING}


def without_unsupported_values(request: dict[str, object]) -> tuple[dict[str, object], list[NotImported]]:
    """Return the part of the request that a spec can express, and the rest. The request itself is not changed."""
    not_imported: list[NotImported] = []
    kept = _entries(request, (), pinned_model().root, not_imported)
    foreign = without_tags(kept, OWN_TAGS)
    if foreign is not kept:
        not_imported.append(NotImported(("Tags",), f"`smspec submit` sets the tags that begin with `{OWN_TAGS}`"))
    return foreign, not_imported


def _entries(
    value: dict[str, object], path: Path, shape: Shape | None, not_imported: list[NotImported]
) -> dict[str, object]:
    kept: dict[str, object] = {}
    for name, inner in value.items():
        here = (*path, name)
        below = _member(shape, name)
        why = _name_fault(name) or _fault(inner, below)
        if why:
            not_imported.append(NotImported(here, why))
        else:
            kept[name] = _inside(inner, here, below, not_imported)
    return kept


def _inside(value: object, path: Path, shape: Shape | None, not_imported: list[NotImported]) -> object:
    if isinstance(value, dict):
        return _entries(value, path, shape, not_imported)
    if not isinstance(value, list):
        return value
    kept = []
    item_shape = _item(shape)
    for index, item in enumerate(value):
        here = (*path, index)
        why = _fault(item, item_shape)
        if why:
            not_imported.append(NotImported(here, why))
        else:
            kept.append(_inside(item, here, item_shape, not_imported))
    return kept


def _member(shape: Shape | None, name: str) -> Shape | None:
    """Return the shape of a member; None if it is unknown."""
    if shape is None or shape.kind != "structure" or name not in shape.members:
        return None
    return pinned_model().shapes[shape.members[name]]


def _item(shape: Shape | None) -> Shape | None:
    return pinned_model().shapes[shape.item] if shape is not None and shape.kind == "list" else None


def _name_fault(name: str) -> str:
    if _VARIABLE in name:
        return "a spec key cannot contain `${{`"
    return "its name contains an unpaired surrogate" if _HALF_CHARACTER.search(name) else ""


def _fault(value: object, shape: Shape | None) -> str:
    if value is None:
        return "null is not an API value"
    if is_mark(value) and _has_several_values(shape):
        return "its value is known only at run time"
    return "it contains an unpaired surrogate" if isinstance(value, str) and _HALF_CHARACTER.search(value) else ""


def _has_several_values(shape: Shape | None) -> bool:
    """Return whether a value is an object, a map, or a list of these."""
    item = _item(shape)
    return shape is not None and (
        shape.kind in ("structure", "map") or (item is not None and item.kind in ("structure", "map"))
    )
