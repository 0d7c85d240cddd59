"""What is wrong with a faulty spec besides its faults: whatever is found in every way to repair those."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smspec.diagnostics import Finding
from smspec.pipeline.inputs import Inputs
from smspec.pipeline.job_findings import job_findings, standing
from smspec.plan.planning import make_plan
from smspec.rules.ignoring import UNUSED, can_be_ignored
from smspec.source import Document, Path, Scalar
from smspec.source.frozen import replace
from smspec.spec.decoding import decode
from smspec.spec.shape.checking import shape_findings
from smspec.spec.shape.repairs import Repair, repairs

_IGNORE: Path = ("checks", "ignore")


def independent_findings(inputs: Inputs, shape: list[Finding]) -> list[Finding]:
    """Return everything that is wrong with a document with faults of ``shape``, or with unknown values.

    With unknown values ``shape`` does not count: the faults of shape are those that every way has.
    """
    document = inputs.document
    ways = list(repairs(document))
    if document.unknown:
        shape = _in_all(_shape_beside_the_unknown(way, document.unknown) for way in ways)
    reported = {finding.path for finding in shape}
    rest = _in_all(_beside(inputs, way, shape) for way in ways) if ways else [*inputs.findings]
    rest = [finding for finding in rest if finding in inputs.findings or finding.path not in reported]
    return [*shape, *_without_doubtful(rest, document)]


def _in_all(ways: Iterable[Iterable[Finding]]) -> list[Finding]:
    found: dict[Finding, None] | None = None
    for way in ways:
        here = dict.fromkeys(way)
        found = here if found is None else {finding: None for finding in found if finding in here}
    return list(found or ())


def _shape_beside_the_unknown(way: Repair, unknown: tuple[Path, ...]) -> Iterator[Finding]:
    for finding in shape_findings(way.start):
        if not any(finding.path[: len(path)] == path for path in unknown):
            yield finding


def _beside(inputs: Inputs, way: Repair, shape: list[Finding]) -> Iterator[Finding]:
    """Yield what is found in a repaired document, except in what is not the author's."""
    known = _as_far_as_known(inputs, way)
    job = decode(way.document)
    plan = make_plan(job, known.ingredients)
    for finding in standing(known, job, [*inputs.findings, *shape, *job_findings(known, job, plan)]):
        if not way.is_changed(finding.path) or finding in inputs.findings:
            yield finding


def _as_far_as_known(inputs: Inputs, way: Repair) -> Inputs:
    """Return the inputs of a repaired document; what was read from the disk for a faulty key is not in them."""
    source_is_known = not way.touches("source")
    return replace(
        inputs,
        document=way.document,
        source_is_known=inputs.source_is_known and source_is_known,
        program=inputs.program if source_is_known and not way.touches("entry_point") else None,
    )


def _without_doubtful(findings: list[Finding], document: Document) -> list[Finding]:
    """Return the findings without those that `checks.ignore` could expect if its unknown values were known.

    Nor is it known which of its entries find nothing: they may be there for the sake of what is unknown.
    """
    if not document.unknown:
        return findings
    rules = set(_doubtful_rules(document))
    return [
        finding
        for finding in findings
        if not (can_be_ignored(finding) and ("" in rules or finding.code in rules))
        and not (finding.code == UNUSED.code and len(finding.path) == len(_IGNORE) + 1)
    ]


def _doubtful_rules(document: Document) -> Iterator[str]:
    """Yield the rules of entries of `checks.ignore` of which not all is known; empty: any rule."""
    for path in document.unknown:
        if path[: len(_IGNORE)] != _IGNORE[: len(path)]:
            continue
        rule = document.node((*path[:3], "rule")) if path[3:] and path[3] != "rule" else None
        yield rule.text if isinstance(rule, Scalar) else ""
