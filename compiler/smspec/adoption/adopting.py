"""From a request to the text of a spec: keys are taken as the table or a part says, `api` holds the rest."""

from __future__ import annotations

from smspec.adoption.comments import commented
from smspec.adoption.imported import Imported, Lost
from smspec.adoption.imported_keys import taken
from smspec.adoption.keepable import keepable
from smspec.adoption.naming import names
from smspec.adoption.nodes import DOLLAR, holds_dollar, node
from smspec.adoption.parts import PARTS
from smspec.adoption.remainder import Remainder
from smspec.source.frozen import dataclass
from smspec.spec.keys import rows_below


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """A spec as YAML, the request that it must render, and what of the source it cannot have.

    ``request`` has no TrainingJobName where the source had none. ``left_out`` are members that no request has.
    """

    text: str
    request: dict[str, object]
    lost: tuple[Lost, ...]
    left_out: tuple[str, ...]


def adopt(imported: Imported) -> Adoption:
    """Return the shortest spec that renders the request."""
    request, lost = keepable(imported.request)
    rest = Remainder(request)
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
    told = (*imported.lost, *lost)
    return Adoption(text=commented(spec, imported, told), request=request, lost=told, left_out=imported.left_out)
