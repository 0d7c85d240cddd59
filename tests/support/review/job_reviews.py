"""Reviews of two specs without files."""

from __future__ import annotations

from smspec.pipeline.inputs import Inputs
from smspec.pipeline.planned_jobs import planned_jobs
from smspec.review.job_review import compared
from smspec.review.layers import layers_of_plan
from smspec.review.version import JobVersion, Writing, version_of_plan
from smspec.service.job_costs import PriceBook
from support.spec import job_samples


def version(written=None, *paths: str, requirements: bytes | None = None, **changes) -> JobVersion:
    """Return a job as it is compared: a plain one with keys replaced, or what is written."""
    document = job_samples.document(job_samples.spec(**changes) if written is None else written)
    build_inputs = job_samples.build_inputs(*paths, requirements=requirements)
    first = planned_jobs(Inputs(document=document, directory="", overlay=None, build_inputs=build_inputs))[0]
    job, plan = first.job, first.plan
    layers = None if plan.image is None else layers_of_plan(plan.image, plan.run, build_inputs)
    return version_of_plan(plan, job, build_inputs, layers, Writing(document=document))


def kinds(old: JobVersion, new: JobVersion, prices=None) -> set[str]:
    """Return the kinds of what differs."""
    return {change.kind for change in compared(old, new, prices or PriceBook())}


def one(changes, kind):
    """Return the only change of a kind."""
    (change,) = [change for change in changes if change.kind == kind]
    return change
