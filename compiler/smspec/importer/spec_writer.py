"""Write the text of a spec for a request: keys are imported by the table or a part, the rest goes to `api`."""

from __future__ import annotations

import json
import re

from smspec.importer.alternative_hosts import with_alternatives
from smspec.importer.comments import commented
from smspec.importer.imported import Imported, NotImported, Variable
from smspec.importer.imported_keys import taken
from smspec.importer.marks import filled
from smspec.importer.naming import names
from smspec.importer.nodes import DOLLAR, holds_dollar, node
from smspec.importer.parts import PARTS
from smspec.importer.unmapped_members import UnmappedMembers
from smspec.importer.unsupported_values import without_unsupported_values
from smspec.source.frozen import dataclass
from smspec.spec.keys import rows_below

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./:-]*")
"""Values that `--set` reads without quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSpec:
    """A spec as YAML, the request that it must render, and the parts of the source that it cannot contain.

    ``request`` has no TrainingJobName if the source had none. ``left_out`` are members that no request has.
    ``settings`` are values for its variables, with which it can be compiled. ``script`` is the one that it names.
    ``alternatives`` are the requests of the later alternatives.
    """

    text: str
    request: dict[str, object]
    not_imported: tuple[NotImported, ...]
    left_out: tuple[str, ...]
    settings: dict[str, str]
    script: str | None
    additions: tuple[str, ...]
    alternatives: tuple[dict[str, object], ...]


def write_spec(imported: Imported) -> WrittenSpec:
    """Return the shortest spec that renders the request.

    Raise `RequestNotFound` if its alternatives differ in more than a spec can express.
    """
    request, not_imported = without_unsupported_values(imported.request)
    spec = _spec(request, imported)
    others = [without_unsupported_values(other)[0] for other in imported.alternatives]
    if others:
        spec = with_alternatives([spec, *({**_spec(other, imported), "name": spec["name"]} for other in others)])
    declared: dict[str, object] = {each.name: _declared(each) for each in imported.variables}
    if holds_dollar(node(spec)):
        declared[DOLLAR] = {"default": "$"}
    if declared:
        spec["vars"] = declared
    skipped = (*imported.not_imported, *not_imported)
    settings = {each.name: _setting(each.placeholder) for each in imported.variables if each.default is None}
    placeholders = {each.name: each.placeholder for each in imported.variables}
    script = filled(spec.get("entry_point"), placeholders) if "source" in spec else None
    return WrittenSpec(
        text=commented(spec, imported, skipped),
        request=request,
        not_imported=skipped,
        left_out=imported.left_out,
        settings=settings,
        script=script if isinstance(script, str) else None,
        additions=imported.additions,
        alternatives=tuple(others),
    )


def _spec(request: dict[str, object], imported: Imported) -> dict[str, object]:
    rest = UnmappedMembers(request)
    spec: dict[str, object] = {"smspec": "v1"}
    if imported.region:
        spec["region"] = imported.region
    for row in rows_below(""):
        if row.path in PARTS:
            spec.update(PARTS[row.path](rest))
        else:
            spec.update(taken(rest, [row]))
    spec.update(imported.keys)
    spec.update(names(rest.text("TrainingJobName"), imported.stem, request))
    patch = {**rest.members, **imported.patch}
    if patch:
        spec["api"] = patch
    return spec


def _declared(variable: Variable) -> dict[str, object]:
    default = {} if variable.default is None else {"default": variable.default}
    return {**default, "description": variable.description}


def _setting(value: object) -> str:
    is_plain = isinstance(value, str) and _PLAIN.fullmatch(value)
    return value if isinstance(value, str) and is_plain else json.dumps(value)
