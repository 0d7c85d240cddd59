"""Import the keys that their rows define: each from its member, if the key can express the whole value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING
from typing import cast

from smspec.importer.unmapped_members import UnmappedMembers
from smspec.source.frozen import fields
from smspec.spec.keys import rows_below
from smspec.spec.keys.row import Row, StructureForm, StructureListForm, ValueForm


def taken(rest: UnmappedMembers, rows: Iterable[Row], outside: int = 0) -> dict[str, object]:
    """Import what the rows have keys for. An irregular row is left to its function.

    ``outside``: how many steps of a member are outside the remaining request.
    """
    found = {row.name: take(rest, row, outside) for row in rows if row.member and not row.irregular}
    return {name: value for name, value in found.items() if value is not None}


def take(rest: UnmappedMembers, row: Row, outside: int = 0) -> object:
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


def _is_sayable(rest: UnmappedMembers, row: Row, outside: int) -> bool:
    return isinstance(row.form, ValueForm) and row.form.accepts(rest.at(row.steps[outside:]))


def _is_item(item: dict[str, object], below: tuple[Row, ...], inside: int, form: StructureListForm) -> bool:
    """Return whether an item has only members of its keys: there is no patch for the rest."""
    left = UnmappedMembers(item)
    return _required(form) <= taken(left, below, inside).keys() and not left.members


def _required(form: StructureForm | StructureListForm) -> set[str]:
    """Return the fields without a default."""
    declared = fields(cast("type", form.kind))
    return {field.name for field in declared if field.default is MISSING and field.default_factory is MISSING}
