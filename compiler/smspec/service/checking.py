"""The whole verdict on a CreateTrainingJob request: what the API model says of its members, and what the rules say."""

from __future__ import annotations

from smspec.diagnostics import Finding
from smspec.service.limits import limit_findings
from smspec.service.request import Request
from smspec.service.request_rules import rule_findings

SECURITY = "SM6"
"""Codes that are told whatever else is wrong with a value."""


def request_findings(
    payload: dict[str, object], *, region: str | None = None, in_spec_words: bool = False
) -> list[Finding]:
    """Return everything that is wrong with a request, or risky in it, at paths of the request.

    Of a member that does not even have its shape the rules say nothing more: that would be one fault told twice.
    ``region``: where the job is to run, when that is known; ``in_spec_words``: the request was made from a spec.
    """
    request = Request(payload=payload, region=region, in_spec_words=in_spec_words)
    shape = limit_findings(payload, in_spec_words=in_spec_words)
    told = {finding.path for finding in shape if finding.severity == "error"}
    rest = (found for found in rule_findings(request) if found.path not in told or found.code.startswith(SECURITY))
    return [*shape, *rest]
