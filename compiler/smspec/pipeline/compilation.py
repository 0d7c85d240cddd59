"""From gathered inputs to a plan, or to everything that is wrong with them. Nothing here reads or writes a file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Union

from smspec.diagnostics import Diagnostic, Finding, placed
from smspec.pipeline.inputs import NO_SOURCE_DIRECTORY, Inputs
from smspec.pipeline.job_facts import job_facts
from smspec.plan.ingredients import Ingredients
from smspec.plan.plan import Plan
from smspec.plan.planning import make_plan
from smspec.render.representable import dockerfile_findings
from smspec.rules import lint, missing_handler, missing_script
from smspec.rules.ignoring import not_ignored
from smspec.rules.secret_in_the_requirements import check_requirements
from smspec.script.program import Program
from smspec.service.checking import request_findings
from smspec.service.levels import at_level
from smspec.service.policy import Policy
from smspec.service.request import Request
from smspec.source import Document, SourceText
from smspec.source.frozen import dataclass
from smspec.spec.decoding import decode
from smspec.spec.facts import JobFacts
from smspec.spec.model import BuiltImage, JobSpec
from smspec.spec.shape.checking import shape_findings

MOST_TOLD = 200
"""Nobody mends more in one go, and a hostile spec could be wrong in tens of thousands of places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A job that can be built. ``diagnostics`` are warnings; ``facts`` are what other specs must know of it."""

    inputs: Inputs
    job: JobSpec
    plan: Plan
    diagnostics: tuple[Diagnostic, ...]
    facts: JobFacts

    @property
    def texts(self) -> tuple[SourceText, ...]:
        return _texts(self.inputs, self.diagnostics)


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
    shape = shape_findings(document)
    findings = [*inputs.findings, *shape]
    if shape:
        return Faulty(diagnostics=_placed(findings, document), texts=document.texts)

    job = decode(document)
    plan = make_plan(job, inputs.ingredients)
    findings += _contradictions(job, inputs)
    findings += _request_findings(plan, job.region, {finding.instead_of for finding in findings})
    findings += dockerfile_findings(job, inputs.ingredients)
    findings += check_requirements(inputs.ingredients.requirements)
    findings += _unpinned(job, inputs.ingredients)
    findings += _against_the_policy(job, plan, inputs.policy)
    findings += _script_findings(job, plan, inputs.program)
    if inputs.levels:
        findings = list(at_level(findings, inputs.levels))
    diagnostics = _placed(not_ignored(findings, job.ignored_checks, inputs.policy), document)
    facts = job_facts(job, plan, document, inputs.overlay)
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        return Faulty(diagnostics=diagnostics, texts=_texts(inputs, diagnostics), facts=facts)
    return Compiled(inputs=inputs, job=job, plan=plan, diagnostics=diagnostics, facts=facts)


def _unpinned(job: JobSpec, ingredients: Ingredients) -> Iterable[Finding]:
    """Return what a job leaves open, where its repository has a lock."""
    if ingredients.lock is None or not isinstance(job.image, BuiltImage):
        return ()
    # Late: few repositories have one.
    from smspec.rules.locking import unpinned
    from smspec.rules.locking.pinning import Pinning

    pinning = Pinning(
        image=job.image,
        lock=ingredients.lock,
        requirements=ingredients.requirements,
        requirements_name=ingredients.requirements_name,
    )
    return unpinned(pinning)


def _against_the_policy(job: JobSpec, plan: Plan, policy: Policy | None) -> Iterable[Finding]:
    """Yield where a job does not keep to the policy of its organisation, told at the place in the spec."""
    if policy is None:
        return
    # Late: few repositories have one.
    from smspec.service.policy_rules import (
        job_outside_a_vpc,
        policy_findings,
        region_that_is_not_allowed,
        registry_that_is_not_allowed,
    )

    request = Request(payload=plan.request.payload, region=job.region, in_spec_words=True)
    # What a request does not have at all has a key in a spec all the same.
    keys = {job_outside_a_vpc.RULE.code: "network"}
    if job.region is not None:
        keys[region_that_is_not_allowed.RULE.code] = "region"
    for finding in policy_findings(request, policy):
        key = keys.get(finding.code)
        yield finding.moved((key,)) if key else plan.request.at_origin(finding)
    if isinstance(job.image, BuiltImage):
        yield from registry_that_is_not_allowed.check_base(job.image.base, policy)


def _placed(findings: Iterable[Finding], document: Document) -> tuple[Diagnostic, ...]:
    """Give findings their places; of very many the first, errors before warnings."""
    return placed(sorted(findings, key=lambda finding: finding.severity != "error")[:MOST_TOLD], document)


def _texts(inputs: Inputs, diagnostics: Iterable[Diagnostic]) -> tuple[SourceText, ...]:
    """Return the texts of the spec, and those of its program that notes point into."""
    named = {note.span.file for diagnostic in diagnostics for note in diagnostic.notes if note.span}
    beside = inputs.program.texts if inputs.program else ()
    return (*inputs.document.texts, *(text for text in beside if text.name in named))


def _script_findings(job: JobSpec, plan: Plan, program: Program | None) -> list[Finding]:
    """Return what would go wrong between the program and what the job gives it."""
    if program is None:
        return []
    # Late: many jobs start no program that could be read.
    from smspec.plan.surroundings import plan_surroundings
    from smspec.rules.script import script_findings

    surroundings = plan_surroundings(job, plan.request)
    return [] if surroundings is None else script_findings(program, surroundings)


def _contradictions(job: JobSpec, inputs: Inputs) -> Iterable[Finding]:
    """Return what the rules find; a directory that is not there is told once, not again for each file in it."""
    is_there = all(finding.code != NO_SOURCE_DIRECTORY.code for finding in inputs.findings)
    for finding in lint(job, inputs.ingredients.source):
        if is_there or finding.code not in (missing_script.RULE.code, missing_handler.RULE.code):
            yield finding


def _request_findings(plan: Plan, region: str | None, told: set[str]) -> Iterable[Finding]:
    """Return what the API would refuse, told at the place in the spec that it was made from."""
    for finding in request_findings(plan.request.payload, region=region, in_spec_words=True):
        if finding.code not in told:
            yield plan.request.at_origin(finding)
