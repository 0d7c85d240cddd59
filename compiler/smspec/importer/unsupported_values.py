"""Values that a spec cannot express, removed first: nulls, keys that look like variables, surrogates, and variables
in the place of a list of objects or a mapping, since the variable of a spec is one value."""

from __future__ import annotations

import re

from smspec.importer.imported import NotImported
from smspec.importer.marks import is_mark
from smspec.service.shapes import Shape, pinned_model
from smspec.source import Path

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_VARIABLE = "${{"


def without_unsupported_values(request: dict[str, object]) -> tuple[dict[str, object], list[NotImported]]:
    """Return the part of the request that a spec can express, and the rest. The request itself is not changed."""
    not_imported: list[NotImported] = []
    return _entries(request, (), pinned_model().root, not_imported), not_imported


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
