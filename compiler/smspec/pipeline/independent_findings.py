"""The findings about an invalid spec besides its faults of shape: those that every way to repair the faults has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smspec.diagnostics import Finding, Rule
from smspec.pipeline.inputs import Inputs
from smspec.pipeline.job_findings import standing
from smspec.pipeline.planned_jobs import findings_of, planned_jobs
from smspec.rules.suppressions import UNUSED, can_be_ignored
from smspec.source import Document, Mapping, Path, Scalar, Sequence, to_data
from smspec.source.frozen import replace
from smspec.spec.layers.merging import is_null
from smspec.spec.shape import shape_findings
from smspec.spec.shape.repairs import Repair, is_too_large, repairs
from smspec.spec.shape.schema_errors import is_request

ONLY_ITS_FORM = Rule("SM148", "incompletely checked job", "note")

_MENTIONING = ("source", "entry_point", "image", "hyperparameters", "environment", "channels", "checkpoints", "metrics")
"""Keys that a source is compared with, or that may contain what no file of it does."""

_IGNORE: Path = ("checks", "ignore")

_OF_FILES = ("SM143", "SM144", "SM145")
"""The file in a key does not exist. Other findings about files depend on more keys, such as `source.ignore`."""


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
        shell=inputs.shell if script_is_known and image_is_known else None,
        source_texts=None if is_partial or any(map(way.touches, _MENTIONING)) else inputs.source_texts,
    )


def certain(findings: Iterable[Finding], document: Document) -> list[Finding]:
    """Return the findings that cannot depend on the unknown parts of ``document``."""
    if not document.is_partly_known:
        return [*findings]
    rules = set(_doubtful_rules(document))
    return [
        finding
        for finding in findings
        if not (can_be_ignored(finding) and ("" in rules or finding.code in rules))
        # An entry of `checks.ignore` may be meant for an unknown part.
        and not (finding.code == UNUSED.code and len(finding.path) == len(_IGNORE) + 1)
        and not (document.is_partial and _may_depend_on_a_base(finding, document))
    ]


def is_written(path: Path, document: Document) -> bool:
    """Return whether a document has a value at ``path``, or is in a list there, which no base spec extends."""
    node = document.node(path)
    in_list = any(isinstance(step, int) and document.node(path[: at + 1]) for at, step in enumerate(path))
    return in_list or (bool(path) and node is not None and not is_null(node))


def _may_depend_on_a_base(finding: Finding, document: Document) -> bool:
    if not is_written(finding.path, document) or finding.needs_every_layer:
        return True
    if finding.page:
        return True  # a rule of an organization may be about what a base spec sets
    if finding.code.startswith("SM1") and finding.code not in _OF_FILES:
        return True
    # A base spec may ignore a warning, unless the job has its own list.
    return finding.severity != "error" and not isinstance(document.node(_IGNORE), Sequence)


def _doubtful_rules(document: Document) -> Iterator[str]:
    """Yield the rules of entries of `checks.ignore` that are partly unknown; empty: any rule."""
    for path in document.unknown:
        if path[: len(_IGNORE)] != _IGNORE[: len(path)]:
            continue
        rule = document.node((*path[:3], "rule")) if path[3:] and path[3] != "rule" else None
        yield rule.text if isinstance(rule, Scalar) else ""
