"""From gathered inputs to a plan, or to everything that is wrong with them. Nothing here reads or writes a file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Union

from smspec.diagnostics import Diagnostic, Finding, placed
from smspec.diagnostics.locating import in_order
from smspec.diagnostics.severity import gravest_first
from smspec.pipeline.inputs import Inputs
from smspec.pipeline.job_facts import job_facts
from smspec.pipeline.job_findings import job_findings, standing
from smspec.plan.plan import Plan
from smspec.plan.planning import make_plan
from smspec.source import Document, SourceText
from smspec.source.frozen import dataclass
from smspec.spec.decoding import decode
from smspec.spec.facts import JobFacts
from smspec.spec.model import JobSpec
from smspec.spec.shape.checking import shape_findings

MOST_TOLD = 200
"""Nobody mends more in one go, and a hostile spec could be wrong in tens of thousands of places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A job that can be built. ``diagnostics`` hold no error; ``facts`` are what other specs must know of it."""

    inputs: Inputs
    job: JobSpec
    plan: Plan
    diagnostics: tuple[Diagnostic, ...]
    facts: JobFacts

    @property
    def texts(self) -> tuple[SourceText, ...]:
        return self.inputs.document.texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Faulty:
    """A spec with at least one error; ``diagnostics`` point into ``texts``. ``facts`` None: not the shape of a job."""

    diagnostics: tuple[Diagnostic, ...]
    texts: tuple[SourceText, ...]
    facts: JobFacts | None = None


Compilation = Union[Compiled, Faulty]


def compile_spec(inputs: Inputs) -> Compilation:
    """Return the plan of a job, or every fault that is independent of another. Never raises for the author's faults."""
    document = inputs.document
    shape = [] if document.is_partly_known else shape_findings(document)
    if shape or inputs.faults:
        # Late: good specs do not need it.
        from smspec.pipeline.independent_findings import independent_findings

        found = _placed(independent_findings(inputs, shape), document)
        return Faulty(diagnostics=in_order((*inputs.faults, *found), document.texts), texts=document.texts)

    job = decode(document)
    plan = make_plan(job, inputs.build_inputs)
    diagnostics = _placed(standing(inputs, job, job_findings(inputs, job, plan)), document)
    facts = job_facts(job, plan, document, inputs.overlay)
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        return Faulty(diagnostics=diagnostics, texts=inputs.document.texts, facts=facts)
    return Compiled(inputs=inputs, job=job, plan=plan, diagnostics=diagnostics, facts=facts)


def _placed(findings: Iterable[Finding], document: Document) -> tuple[Diagnostic, ...]:
    """Give findings their places; of very many the gravest."""
    return placed(gravest_first(findings)[:MOST_TOLD], document)
