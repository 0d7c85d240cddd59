"""Check a raw request from a file or standard input, and what such files often contain instead."""

from __future__ import annotations

import os
from collections.abc import Iterator

from smspec.diagnostics import Diagnostic, Finding, InvalidInput, ParseErrors, Rule, counted, gravest_first, placed
from smspec.diagnostics.unseen_names import check_names, check_text
from smspec.organization import policy_of
from smspec.pipeline.compilation import MOST_REPORTED
from smspec.rules.hyperparameters import words_in_one_item
from smspec.service.job_costs import JobCost, PriceBook, cost_line, job_cost
from smspec.service.json_parser import decode_json_bytes, read_json
from smspec.service.json_scanner import MAX_BYTES
from smspec.service.policy import KnownFacts, Policy, at_level, with_ages, without_known
from smspec.service.policy_rules import policy_findings
from smspec.service.policy_rules.limits import without_the_default
from smspec.service.request import Request
from smspec.service.request_rules import request_findings
from smspec.service.shapes import pinned_model
from smspec.source import Document, Mapping, Path, Sequence, SourceText, to_data
from smspec.source.frozen import dataclass
from smspec.workspace.boundary_search import boundary_of
from smspec.workspace.spec_reading import STANDARD_INPUT, content_of

NO_REQUEST = Rule("SM156", "JSON other than a request")

_IMPORT = "run `smspec import FILE` to convert it to a job spec"
_ANSWERED = ("TrainingJobArn", "TrainingJobStatus", "SecondaryStatus")
"""Members of DescribeTrainingJob that CreateTrainingJob does not have."""


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
    facts = KnownFacts() if policy is None else policy.facts
    findings = request_findings(payload, region=region, today=facts.today, model=facts.model)
    algorithm = payload.get("AlgorithmSpecification")
    words = algorithm.get("ContainerEntrypoint") if isinstance(algorithm, dict) else None
    if isinstance(words, list):
        findings += words_in_one_item(words, ("AlgorithmSpecification", "ContainerEntrypoint"))
    if policy is None:
        return list(with_ages(findings, ""))
    request = Request(payload=payload, region=region)
    findings = without_known(without_the_default(findings, request, policy), request, facts)
    findings += policy_findings(request, policy)
    return list(at_level(with_ages(findings, facts.today), policy.levels, policy.floors))


def payload_of(document: Document) -> dict[str, object]:
    """Return a request as plain data; empty if the document is not an object."""
    data = to_data(document.root)
    return data if isinstance(data, dict) else {}


def not_a_request(document: Document) -> Finding | None:
    """Return what the document is instead of a request, or None when it may be one."""
    root = document.root
    if isinstance(root, Sequence):
        return NO_REQUEST.at((), "the file contains a list, not a request", help="move each request to its own file")
    if not isinstance(root, Mapping):
        return NO_REQUEST.at((), "the file contains a single value, not a request", help="use an object")
    names = [key.text for key, _ in root.entries]
    if "smspec" in names:
        return _other(
            "smspec",
            "`smspec` is set: this is a job spec, not a request",
            "run `smspec validate FILE`, without `--api-json`",
        )
    answered = next((name for name in _ANSWERED if name in names), None)
    if answered is not None:
        return _other(answered, f"`{answered}`: this is DescribeTrainingJob output, not a request", _IMPORT)
    if "apiVersion" in names and "kind" in names:
        return _other("kind", "`kind` is set: this is a Kubernetes object, not a request", _IMPORT)
    if not set(names) & pinned_model().root.members.keys():
        inside = next(_requests_inside(document), None)
        if inside is not None:
            message = f"the request is inside `{inside[-1]}`"
            return NO_REQUEST.at(inside, message, help=f"use only its value, or {_IMPORT}", on="key")
    return None


def _other(name: str, message: str, help: str) -> Finding:
    return NO_REQUEST.at((name,), message, help=help, on="key")


def _requests_inside(document: Document) -> Iterator[Path]:
    """Yield the paths, at most three deep, of objects that look like requests: wrappers, states, templates."""
    members = pinned_model().root.members.keys()
    ahead: list[Path] = [()]
    while ahead:
        path = ahead.pop(0)
        node = document.node(path)
        if isinstance(node, Mapping):
            for key, value in node.entries:
                here = (*path, key.text)
                if isinstance(value, Mapping):
                    if len(members & {name.text.removesuffix(".$") for name, _ in value.entries}) > 1:
                        yield here
                    elif len(here) < 3:
                        ahead.append(here)


def region_of(payload: dict[str, object]) -> str | None:
    """Return the region of a request, which is that of its image in ECR; None if there is none."""
    image = Request(payload=payload).image
    return image.region if image else None
