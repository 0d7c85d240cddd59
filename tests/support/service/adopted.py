"""Requests taken in, and the specs of them compiled: what every test of an import compares."""

from __future__ import annotations

from smspec.adoption.adopting import Adoption, adopt
from smspec.adoption.imported import Imported
from smspec.adoption.proof import differences
from smspec.plan.planning import make_plan
from smspec.source import Path
from smspec.spec.decoding import decode
from smspec.spec.shape.checking import shape_findings
from support.spec.job_samples import document, ingredients


class ShapeFaults(Exception):
    """A spec is not even in the shape of a job."""


def adopted(request: dict[str, object], **more: object) -> Adoption:
    """Return the spec of a request."""
    return adopt(Imported(form="a test", request=request, **more))


def rendered(text: str) -> dict[str, object]:
    """Return the request that a spec renders; raise `ShapeFaults` when it has not the shape of a job."""
    tree = document(text)
    faults = shape_findings(tree)
    if faults:
        raise ShapeFaults(faults)
    return make_plan(decode(tree), ingredients()).request.payload


def unlike(text: str, request: dict[str, object]) -> list[Path]:
    """Return where the request of a spec is not the one that is meant; a name nobody gave does not count."""
    payload = rendered(text)
    if "TrainingJobName" not in request:
        del payload["TrainingJobName"]
    return list(differences(payload, request))
