"""Check a raw request from a file or standard input."""

from __future__ import annotations

import os

from smspec.diagnostics import Diagnostic, Finding, InvalidInput, placed
from smspec.diagnostics.diagnostic import ParseErrors
from smspec.diagnostics.finding import counted, gravest_first
from smspec.diagnostics.unseen_names import check_names, check_text
from smspec.organization.policy_search import policy_of
from smspec.pipeline.compilation import MOST_REPORTED
from smspec.service.cost_summary import JobCost, cost_line, job_cost
from smspec.service.json.encoding import decode_json_bytes
from smspec.service.json.json_parser import read_json
from smspec.service.json.limits import MAX_BYTES
from smspec.service.known_images import without_known_images
from smspec.service.known_instance_types import without_known_types
from smspec.service.policy import Policy
from smspec.service.policy_rules import policy_findings
from smspec.service.policy_rules.quotas import without_the_default
from smspec.service.prices import PriceBook
from smspec.service.raw_request import not_a_request, payload_of, region_of
from smspec.service.request import Request
from smspec.service.request_check import request_findings
from smspec.service.severity_overrides import at_level
from smspec.source import Document, SourceText
from smspec.source.frozen import dataclass
from smspec.workspace.boundary_search import boundary_of
from smspec.workspace.command_line_file import STANDARD_INPUT, content_of


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """The result for one raw request; ``diagnostics`` point into ``texts``. ``cost`` is None for one with errors."""

    diagnostics: tuple[Diagnostic, ...]
    texts: tuple[SourceText, ...]
    cost: JobCost | None = None

    def summary(self) -> str:
        """Return a one-line summary of the findings."""
        return f"checked 1 request: {counted(self.diagnostics) or 'no problems found'}"

    def ceiling(self) -> str:
        """Return a one-line summary of what the job can cost; empty if that is unknown."""
        return "" if self.cost is None else cost_line([self.cost])


def check_request_file(path: str) -> CheckedRequest:
    """Check the request in a file; ``-`` is standard input. Raise `OptionError` if there is no such file.

    The policy is that of the repository that contains the file; for standard input, that of the current directory.
    """
    name = "<stdin>" if path == STANDARD_INPUT else path
    try:
        text = decode_json_bytes(name, content_of(path, MAX_BYTES, "a request", dash_is_input=True))
        return check_request(text, _policy(path))
    except InvalidInput as rejected:
        return CheckedRequest(rejected.diagnostics, rejected.texts)


def _policy(path: str) -> Policy | None:
    directory = os.curdir if path == STANDARD_INPUT else os.path.dirname(path)
    return policy_of(directory, boundary_of(directory))


def check_request(text: SourceText, policy: Policy | None = None) -> CheckedRequest:
    """Check the request in a text, also against a policy."""
    try:
        document = read_json(text)
        _check_visible(document, text)
    except InvalidInput as rejected:
        return CheckedRequest(rejected.diagnostics, rejected.texts)
    other = not_a_request(document)
    payload = payload_of(document)
    findings = [other] if other else _findings(payload, policy)
    most = gravest_first(findings)[:MOST_REPORTED]
    diagnostics = placed(most, document)
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        return CheckedRequest(diagnostics, document.texts)
    prices = PriceBook() if policy is None else policy.prices
    return CheckedRequest(diagnostics, document.texts, job_cost(payload, prices, region_of(payload)))


def _check_visible(document: Document, text: SourceText) -> None:
    """Raise `InvalidInput` for what a reviewer of the request cannot see."""
    errors = ParseErrors(text)
    if not text.text.isascii():
        check_text(errors)
    check_names(errors, document.root)
    if errors:
        raise errors.rejected()


def _findings(payload: dict[str, object], policy: Policy | None) -> list[Finding]:
    region = region_of(payload)
    findings = request_findings(payload, region=region)
    if policy is None:
        return findings
    request = Request(payload=payload, region=region)
    findings = without_known_images(without_the_default(findings, request, policy), request, policy.known_images)
    findings = without_known_types(findings, request.payload, policy.known_instance_types)
    findings += policy_findings(request, policy)
    return list(at_level(findings, policy.levels, policy.floors))
