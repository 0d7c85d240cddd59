"""Write the text of a spec for a request: keys are imported by the table or a part, the rest goes to `api`."""

from __future__ import annotations

from smspec.importer.comments import commented
from smspec.importer.imported import Imported, NotImported
from smspec.importer.imported_keys import taken
from smspec.importer.naming import names
from smspec.importer.nodes import DOLLAR, holds_dollar, node
from smspec.importer.parts import PARTS
from smspec.importer.unmapped_members import UnmappedMembers
from smspec.importer.unsupported_values import without_unsupported_values
from smspec.source.frozen import dataclass
from smspec.spec.keys import rows_below


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSpec:
    """A spec as YAML, the request that it must render, and the parts of the source that it cannot contain.

    ``request`` has no TrainingJobName if the source had none. ``left_out`` are members that no request has.
    """

    text: str
    request: dict[str, object]
    not_imported: tuple[NotImported, ...]
    left_out: tuple[str, ...]


def write_spec(imported: Imported) -> WrittenSpec:
    """Return the shortest spec that renders the request."""
    request, not_imported = without_unsupported_values(imported.request)
    rest = UnmappedMembers(request)
    spec: dict[str, object] = {"smspec": "v1"}
    if imported.region:
        spec["region"] = imported.region
    for row in rows_below(""):
        if row.path in PARTS:
            spec.update(PARTS[row.path](rest))
        else:
            spec.update(taken(rest, [row]))
    spec.update(names(rest.text("TrainingJobName"), imported.stem, request))
    if rest.members:
        spec["api"] = rest.members
    if holds_dollar(node(spec)):
        spec["vars"] = {DOLLAR: {"default": "$"}}
    skipped = (*imported.not_imported, *not_imported)
    return WrittenSpec(
        text=commented(spec, imported, skipped), request=request, not_imported=skipped, left_out=imported.left_out
    )
