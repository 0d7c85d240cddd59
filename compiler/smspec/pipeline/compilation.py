"""Compile gathered inputs to a plan, or to all of their errors. Nothing here reads or writes a file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Union

from smspec.diagnostics import Diagnostic, Finding, gravest_first, in_order, placed
from smspec.pipeline.inputs import Inputs
from smspec.pipeline.job_findings import standing
from smspec.pipeline.planned_jobs import findings_of, job_facts, planned_jobs
from smspec.plan import Plan, digest
from smspec.service.job_costs import JobCost, highest, job_cost
from smspec.source import Document, Path, SourceText
from smspec.source.frozen import dataclass
from smspec.spec.model import JobSpec
from smspec.spec.repository_facts import JobFacts
from smspec.spec.shape import shape_findings, viewed

MOST_REPORTED = 200
"""No author fixes more in one run, and a hostile spec could have errors in tens of thousands of places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A job that can be built. ``diagnostics`` contain no error; ``facts`` are what other specs are compared with.

    ``job`` and ``plan`` are those of the first alternative, if the spec has some; the plan has the requests of all.
    """

    inputs: Inputs
    job: JobSpec
    plan: Plan
    diagnostics: tuple[Diagnostic, ...]
    facts: JobFacts

    @property
    def cost(self) -> JobCost | None:
        """What the job can cost at most, whichever alternative runs; None if it has no instances."""
        prices, region = self.inputs.prices, self.job.region
        attempts = None if self.plan.queue is None else self.plan.queue.attempts
        return highest(job_cost(request.payload, prices, region, attempts) for request in self.plan.requests)

    @property
    def texts(self) -> tuple[SourceText, ...]:
        return self.inputs.document.texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Faulty:
    """A spec with at least one error; ``diagnostics`` point into ``texts``. ``facts`` None: not the shape of a job.

    ``settable``: as in its document, where that is known.
    """

    diagnostics: tuple[Diagnostic, ...]
    texts: tuple[SourceText, ...]
    facts: JobFacts | None = None
    settable: tuple[tuple[Path, str], ...] = ()


Compilation = Union[Compiled, Faulty]


def compile_spec(inputs: Inputs) -> Compilation:
    """Return the plan of a job, or every independent error. This never raises for errors in a spec."""
    document = inputs.document
    data = viewed(document.root)
    shape = [] if document.is_partly_known else shape_findings(document, data)
    if shape or inputs.faults:
        # Imported late: valid specs do not need it.
        from smspec.pipeline.independent_findings import independent_findings

        found = _placed(independent_findings(inputs, shape), document)
        diagnostics = in_order((*inputs.faults, *found), document.texts)
        return Faulty(diagnostics=diagnostics, texts=document.texts, settable=document.settable)

    jobs = planned_jobs(inputs, data)
    job, plan = jobs[0].job, jobs[0].plan
    diagnostics = _placed(standing(inputs, job, findings_of(inputs, jobs)), document)
    facts = job_facts(job, plan, document, inputs.overlay, inputs.build_inputs.requirements)
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        return Faulty(diagnostics=diagnostics, texts=document.texts, facts=facts, settable=document.settable)
    return Compiled(inputs=inputs, job=job, plan=plan, diagnostics=diagnostics, facts=facts)


def _placed(findings: Iterable[Finding], document: Document) -> tuple[Diagnostic, ...]:
    """Return findings with their positions; if there are very many, the most severe ones."""
    return placed(gravest_first(findings)[:MOST_REPORTED], document)


def compiled_digest(plan: Plan) -> str:
    """Return the SHA-256 of the request and of what identifies the image's content, whatever the order of keys.

    Comments, spelling, the split of a spec into files and their paths, and keys that reach neither the request nor the
    image (`description`, `local`, `checks`) do not affect it.
    """
    return digest({"request": plan.request.payload, "image": plan.image and plan.image.tag})
