"""Values that a spec cannot express, removed first: nulls, keys that look like variables, surrogates."""

from __future__ import annotations

import re

from smspec.importer.imported import Lost
from smspec.source import Path

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_VARIABLE = "${{"


def without_unsupported_values(request: dict[str, object]) -> tuple[dict[str, object], list[Lost]]:
    """Return the part of the request that a spec can express, and the rest. The request itself is not changed."""
    lost: list[Lost] = []
    return _entries(request, (), lost), lost


def _entries(value: dict[str, object], path: Path, lost: list[Lost]) -> dict[str, object]:
    kept: dict[str, object] = {}
    for name, inner in value.items():
        here = (*path, name)
        why = _name_fault(name) or _fault(inner)
        if why:
            lost.append(Lost(here, why))
        else:
            kept[name] = _inside(inner, here, lost)
    return kept


def _inside(value: object, path: Path, lost: list[Lost]) -> object:
    if isinstance(value, dict):
        return _entries(value, path, lost)
    if not isinstance(value, list):
        return value
    kept = []
    for index, item in enumerate(value):
        here = (*path, index)
        why = _fault(item)
        if why:
            lost.append(Lost(here, why))
        else:
            kept.append(_inside(item, here, lost))
    return kept


def _name_fault(name: str) -> str:
    if _VARIABLE in name:
        return "a spec key cannot contain `${{`"
    return "its name contains an unpaired surrogate" if _HALF_CHARACTER.search(name) else ""


def _fault(value: object) -> str:
    if value is None:
        return "null is not an API value"
    return "it contains an unpaired surrogate" if isinstance(value, str) and _HALF_CHARACTER.search(value) else ""
