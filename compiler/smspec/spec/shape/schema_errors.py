"""Convert the faults of a shape to findings: one per fault, none that follows from another."""

from __future__ import annotations

from smspec.diagnostics import Finding
from smspec.source import Document, Path
from smspec.spec.shape.faulty_keys import KEYWORDS_OF_KEYS, MISSING_KEY, key_findings
from smspec.spec.shape.faulty_values import value_finding
from smspec.spec.shape.shape_faults import shape_faults

_REQUIRED_OF_A_REQUEST = {"TrainingJobName", "RoleArn", "OutputDataConfig"}


def describe(document: Document, data: object) -> list[Finding]:
    """Return the findings for a merged document that does not fit the schema; ``data`` is its view."""
    if is_request(data):
        return [_request_instead()]
    faults = list(shape_faults(data))
    findings = key_findings(fault for fault in faults if fault.keyword in KEYWORDS_OF_KEYS)
    findings += [value_finding(document, fault) for fault in faults if fault.keyword not in KEYWORDS_OF_KEYS]
    # A name that is too long and contains a space is one fault: report only the first fault at a place.
    first: dict[tuple[Path, str], Finding] = {}
    for finding in findings:
        first.setdefault((finding.path, finding.on), finding)
    return list(first.values())


def is_request(data: object) -> bool:
    """Return whether the document is a request instead of a spec: this is one fault, whatever else it has."""
    return isinstance(data, dict) and "smspec" not in data and len(_REQUIRED_OF_A_REQUEST & data.keys()) > 1


def _request_instead() -> Finding:
    """Return the one finding for a request instead of a spec; otherwise each member would be an unknown key."""
    return MISSING_KEY.at(
        ("smspec",),
        "missing key `smspec`: this is a CreateTrainingJob request, not a job spec",
        help="run `smspec import FILE` to convert it, or `smspec validate --api-json FILE` to check it",
    )
