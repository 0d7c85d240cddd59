"""The findings about an invalid spec besides its faults of shape: those that every way to repair the faults has."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.pipeline.certainty import certain, is_written
from smspec.pipeline.inputs import Inputs
from smspec.pipeline.job_findings import standing
from smspec.pipeline.planned_jobs import findings_of, planned_jobs
from smspec.source import Document, Mapping, to_data
from smspec.source.frozen import replace
from smspec.spec.shape.repairs import Repair, is_too_large, repairs
from smspec.spec.shape.schema_errors import is_request
from smspec.spec.shape.shape_check import shape_findings

ONLY_ITS_FORM = Rule("SM148", "incompletely checked job", "note")


_MENTIONING = ("source", "entry_point", "image", "hyperparameters", "environment", "channels", "checkpoints", "metrics")
"""Keys that a source is compared with, or that may contain what no file of it does."""


def independent_findings(inputs: Inputs, shape: list[Finding]) -> list[Finding]:
    """Return all findings about a document with faults of ``shape``, or of which only a part is known.

    In the latter case ``shape`` is ignored: the faults of shape are those that every way has.
    """
    document = inputs.document
    rest: list[Finding] | None = None
    known: list[Finding] | None = None
    too_large = is_too_large(document, inputs.variants)
    for way in () if too_large else repairs(document):
        here = certain(_shape_of_the_known(way, document), document) if document.is_partly_known else shape
        known = here if known is None else _in_both(known, here)
        beside = certain(_beside(inputs, way, here), document)
        rest = beside if rest is None else _in_both(rest, beside)
        if not rest and not (known and document.is_partly_known):
            break  # a finding that one way lacks is dropped
    if known is None:
        known = [] if document.is_partly_known else shape
    if rest is None:
        rest = [*certain(inputs.findings, document), *_not_checked(document, too_large=too_large)]
    reported, gathered = {finding.path for finding in known}, set(inputs.findings)
    return [*known, *(found for found in rest if found in gathered or found.path not in reported)]


def _not_checked(document: Document, *, too_large: bool) -> Iterator[Finding]:
    if isinstance(document.root, Mapping) and not is_request(to_data(document.root)):
        why = "it is too large to check more" if too_large else "its errors leave no job to check"
        what = "how its layers are merged" if document.is_partly_known else "the form of this job"
        help = "fix the errors to check the whole job"
        yield ONLY_ITS_FORM.at(("smspec",), f"only {what} was checked: {why}", help=help, on="key")


def _in_both(one: list[Finding], other: list[Finding]) -> list[Finding]:
    """Return the findings of both, with their fixes where these are the same too."""
    there = {_without_fix(finding): finding.fix for finding in other}
    both: list[Finding] = []
    for finding in dict.fromkeys(one):
        plain = _without_fix(finding)
        if plain in there:
            both.append(finding if there[plain] == finding.fix else plain)
    return both


def _without_fix(finding: Finding) -> Finding:
    return finding if finding.fix is None else replace(finding, fix=None)


def _shape_of_the_known(way: Repair, document: Document) -> Iterator[Finding]:
    for finding in shape_findings(way.start):
        is_unknown = any(finding.path[: len(path)] == path for path in document.unknown)
        if not is_unknown and (not document.is_partial or is_written(finding.path, document)):
            yield finding


def _beside(inputs: Inputs, way: Repair, shape: list[Finding]) -> Iterator[Finding]:
    """Yield the findings about a repaired document, except in what is not the author's."""
    known = _as_far_as_known(inputs, way)
    gathered = set(inputs.findings)
    jobs = planned_jobs(known)
    for finding in standing(known, jobs[0].job, [*shape, *findings_of(known, jobs)]):
        if finding in gathered or not way.is_changed(finding.path):
            yield finding


def _as_far_as_known(inputs: Inputs, way: Repair) -> Inputs:
    """Return the inputs of a repaired document, without what was read from the disk for a faulty key."""
    is_partial = inputs.document.is_partial
    source_is_known = not way.touches("source")
    script_is_known = source_is_known and not is_partial and not way.touches("entry_point")
    image_is_known = not way.touches("image") and not way.touches("environment")
    return replace(
        inputs,
        document=way.document,
        source_is_known=inputs.source_is_known and source_is_known,
        program=inputs.program if script_is_known else None,
        reach=inputs.reach if script_is_known and image_is_known else None,
        source_texts=None if is_partial or any(map(way.touches, _MENTIONING)) else inputs.source_texts,
    )
