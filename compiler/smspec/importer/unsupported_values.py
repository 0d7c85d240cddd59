"""Values that a spec cannot express, removed first: nulls, keys that look like variables, surrogates."""

from __future__ import annotations

import re

from smspec.importer.imported import NotImported
from smspec.source import Path

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_VARIABLE = "${{"


def without_unsupported_values(request: dict[str, object]) -> tuple[dict[str, object], list[NotImported]]:
    """Return the part of the request that a spec can express, and the rest. The request itself is not changed."""
    not_imported: list[NotImported] = []
    return _entries(request, (), not_imported), not_imported


def _entries(value: dict[str, object], path: Path, not_imported: list[NotImported]) -> dict[str, object]:
    kept: dict[str, object] = {}
    for name, inner in value.items():
        here = (*path, name)
        why = _name_fault(name) or _fault(inner)
        if why:
            not_imported.append(NotImported(here, why))
        else:
            kept[name] = _inside(inner, here, not_imported)
    return kept


def _inside(value: object, path: Path, not_imported: list[NotImported]) -> object:
    if isinstance(value, dict):
        return _entries(value, path, not_imported)
    if not isinstance(value, list):
        return value
    kept = []
    for index, item in enumerate(value):
        here = (*path, index)
        why = _fault(item)
        if why:
            not_imported.append(NotImported(here, why))
        else:
            kept.append(_inside(item, here, not_imported))
    return kept


def _name_fault(name: str) -> str:
    if _VARIABLE in name:
        return "a spec key cannot contain `${{`"
    return "its name contains an unpaired surrogate" if _HALF_CHARACTER.search(name) else ""


def _fault(value: object) -> str:
    if value is None:
        return "null is not an API value"
    return "it contains an unpaired surrogate" if isinstance(value, str) and _HALF_CHARACTER.search(value) else ""
