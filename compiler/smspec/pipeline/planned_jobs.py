"""The jobs of a spec with their plans, one for each alternative of `hosts.any_of`, and what is wrong in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smspec.diagnostics import Finding, Note
from smspec.pipeline.inputs import Inputs
from smspec.pipeline.job_findings import job_findings
from smspec.plan.image_uris import with_image_uri
from smspec.plan.plan import Plan
from smspec.plan.planning import make_plan
from smspec.source import dotted
from smspec.source.frozen import dataclass, replace
from smspec.spec.decoding import decode
from smspec.spec.layers.alternatives import ANY_OF, Alternative, alternatives
from smspec.spec.model import JobSpec

if TYPE_CHECKING:
    from smspec.service.image_names import NamedImage


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedJob:
    """``alternative`` None: the spec has one set of hosts. ``named``: what the short name of the image stands for."""

    job: JobSpec
    plan: Plan
    named: NamedImage | None
    alternative: Alternative | None = None


def planned_jobs(inputs: Inputs, data: object = None) -> tuple[PlannedJob, ...]:
    """Return the jobs of a spec that has its shape, at least one, in the order of the alternatives.

    ``data``: what `viewed` returns for the document, if that is known.
    """
    found = alternatives(inputs.document)
    if not found:
        job, named = with_image_uri(decode(inputs.document, data), inputs.build_inputs.lock)
        return (PlannedJob(job=job, plan=make_plan(job, inputs.build_inputs), named=named),)
    first, *others = (_planned(inputs, alternative) for alternative in found)
    plan = replace(first.plan, others=tuple(other.plan.request for other in others))
    return (replace(first, plan=plan), *others)


def findings_of(inputs: Inputs, jobs: tuple[PlannedJob, ...]) -> list[Finding]:
    """Return the findings about all jobs, once each; a finding about some alternatives names them."""
    if jobs[0].alternative is None:
        return job_findings(inputs, jobs[0].job, jobs[0].plan, jobs[0].named)
    among: dict[Finding, list[Alternative]] = {}
    for each in jobs:
        assert each.alternative is not None
        for finding in job_findings(inputs, each.job, each.plan, each.named, each.alternative.document):
            among.setdefault(_as_written(finding, each.alternative), []).append(each.alternative)
    found = [_naming(finding, those, len(jobs)) for finding, those in among.items()]
    return [*found, *_about_all(jobs)]


def _planned(inputs: Inputs, alternative: Alternative) -> PlannedJob:
    job, named = with_image_uri(decode(alternative.document), inputs.build_inputs.lock)
    plan = make_plan(job, inputs.build_inputs)
    origins = {path: alternative.written(origin) for path, origin in plan.request.origins.items()}
    plan = replace(plan, request=replace(plan.request, origins=origins))
    return PlannedJob(job=job, plan=plan, named=named, alternative=alternative)


def _as_written(finding: Finding, alternative: Alternative) -> Finding:
    path = alternative.written(finding.path)
    there = finding if path == finding.path else finding.renamed(path)
    return replace(there, cause=alternative.written(finding.cause))


def _naming(finding: Finding, those: list[Alternative], of: int) -> Finding:
    """Return a finding with a note on the alternatives that it is about, unless its path shows them or it is in all."""
    if len(those) == of or finding.path[: len(ANY_OF)] == ANY_OF:
        return finding
    names = ", ".join(f"`{dotted(alternative.path)}`" for alternative in those)
    return replace(finding, notes=(*finding.notes, Note(f"only with {names}")))


def _about_all(jobs: tuple[PlannedJob, ...]) -> Iterator[Finding]:
    # Imported late: few specs have alternatives.
    from smspec.rules.alternatives import NamedAlternatives, alternative_findings

    first = jobs[0]
    request = first.plan.request
    is_named = first.job.job_name is not None or "TrainingJobName" in first.job.api
    yield from alternative_findings(
        NamedAlternatives(
            names=tuple(str(each.plan.request.payload.get("TrainingJobName")) for each in jobs),
            paths=tuple(each.alternative.path for each in jobs if each.alternative is not None),
            named_at=request.origin(("TrainingJobName",)) if is_named else (),
        )
    )
