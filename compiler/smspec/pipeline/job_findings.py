"""What is found in a job that has its shape: by the rules, the API, the lock, the policy, and its script."""

from __future__ import annotations

from collections.abc import Iterable

from smspec.diagnostics import Finding
from smspec.pipeline.inputs import Inputs
from smspec.plan.ingredients import Ingredients
from smspec.plan.plan import Plan
from smspec.render.representable import dockerfile_findings
from smspec.rules import lint, missing_handler, missing_script
from smspec.rules.ignoring import not_ignored
from smspec.rules.secret_in_the_requirements import check_requirements
from smspec.script.program import Program
from smspec.script.unread import Unread
from smspec.service.checking import request_findings
from smspec.service.policy import Policy
from smspec.service.request import Request
from smspec.service.severity_overrides import at_level
from smspec.spec.model import BuiltImage, JobSpec
from smspec.spec.shape.ambiguous_text import ambiguous_texts
from smspec.spec.shape.null_that_removes_nothing import nulls_that_remove_nothing


def job_findings(inputs: Inputs, job: JobSpec, plan: Plan) -> list[Finding]:
    """Return what is found in a job that has its shape."""
    findings = [*ambiguous_texts(inputs.document), *_contradictions(job, inputs)]
    findings += nulls_that_remove_nothing(inputs.document, plan.request.idle)
    told = {finding.instead_of for finding in (*inputs.findings, *findings)}
    findings += _request_findings(plan, job.region, told)
    findings += dockerfile_findings(job, inputs.ingredients)
    findings += check_requirements(inputs.ingredients.requirements)
    findings += _unpinned(job, inputs.ingredients)
    findings += _against_the_policy(job, plan, inputs.policy)
    findings += _script_findings(job, plan, inputs.program)
    return findings


def standing(inputs: Inputs, job: JobSpec, findings: Iterable[Finding]) -> list[Finding]:
    """Return findings as grave as the organisation takes them, without those that the author expects."""
    graded = at_level(findings, inputs.levels) if inputs.levels else findings
    return not_ignored(graded, job.ignored_checks, inputs.policy)


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


def _script_findings(job: JobSpec, plan: Plan, program: Program | Unread | None) -> list[Finding]:
    """Return what would go wrong between the program and what the job gives it, or why that is not known."""
    if program is None:
        return []
    # Late: many jobs start no program that could be read.
    from smspec.plan.surroundings import plan_surroundings
    from smspec.rules.script import script_findings

    return script_findings(program, plan_surroundings(job, plan.request))


def _contradictions(job: JobSpec, inputs: Inputs) -> Iterable[Finding]:
    """Return what the rules find; a source that could not be read whole is told once, not again for each file in it."""
    for finding in lint(job, inputs.ingredients.source):
        if inputs.source_is_known or finding.code not in (missing_script.RULE.code, missing_handler.RULE.code):
            yield finding


def _request_findings(plan: Plan, region: str | None, told: set[str]) -> Iterable[Finding]:
    """Return what the API would refuse, told at the place in the spec that it was made from."""
    for finding in request_findings(plan.request.payload, region=region, in_spec_words=True):
        if finding.code not in told:
            yield plan.request.at_origin(finding)
