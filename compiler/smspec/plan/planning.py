"""Make the plan of a job. This never fails: the rules and the limits of the API report errors in a job."""

from __future__ import annotations

from smspec.plan.build_inputs import BuildInputs
from smspec.plan.delivery import plan_delivery
from smspec.plan.image_planning import plan_image
from smspec.plan.plan import Plan
from smspec.plan.request_planning import plan_request
from smspec.plan.run_planning import plan_run
from smspec.spec.model import JobSpec


def make_plan(job: JobSpec, build_inputs: BuildInputs) -> Plan:
    """Return all decisions about a job: its image, how it is started, its request, and the files for S3."""
    run = plan_run(job)
    image = plan_image(job, run, build_inputs)
    delivery = plan_delivery(job, run, build_inputs)
    request, settings = plan_request(job, image, run, delivery, build_inputs.lock)
    return Plan(name=job.name, image=image, run=run, settings=settings, request=request, uploads=delivery.uploads)
