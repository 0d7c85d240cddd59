"""The whole verdict on a CreateTrainingJob request: what the API model says of its members, and what the rules say."""

from __future__ import annotations

from smspec.diagnostics import Finding
from smspec.service.limits import limit_findings
from smspec.service.request import Request
from smspec.service.request_rules import rule_findings


def request_findings(
    payload: dict[str, object], *, region: str | None = None, in_spec_words: bool = False
) -> list[Finding]:
    """Return everything that is wrong with a request, or risky in it, at paths of the request.

    ``region``: where the job is to run, when that is known; ``in_spec_words``: the request was made from a spec.
    """
    request = Request(payload=payload, region=region, in_spec_words=in_spec_words)
    return [*limit_findings(payload), *rule_findings(request)]
