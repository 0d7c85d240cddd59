"""Check a CreateTrainingJob request against the API model and the rules."""

from __future__ import annotations

from smspec.diagnostics import Finding
from smspec.service.request import Request
from smspec.service.request_rules import rule_findings
from smspec.service.shape_limits import limit_findings

SECURITY = "SM6"
"""Codes that are reported even if a value has other errors."""


def request_findings(
    payload: dict[str, object],
    *,
    region: str | None = None,
    in_spec_words: bool = False,
    launcher: str | None = None,
    tagged_image: str = "",
) -> list[Finding]:
    """Return all errors and risks in a request, at paths of the request.

    The rules skip a member that does not have its shape, so that one error is not reported twice. ``region``: where the
    job is to run, if known; ``in_spec_words``: the request was made from a spec; ``launcher``: the name of the one in
    its image; ``tagged_image``: that image with its tag.
    """
    request = Request(
        payload=payload,
        region=region,
        in_spec_words=in_spec_words,
        launcher=launcher,
        tagged_image=tagged_image,
    )
    shape = limit_findings(payload, in_spec_words=in_spec_words)
    reported = {finding.path for finding in shape if finding.severity == "error"}
    rest = (found for found in rule_findings(request) if found.path not in reported or found.code.startswith(SECURITY))
    return [*shape, *rest]
