"""What exists before a job is submitted, and what its submission will make."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.cli.job_build import JobBuild
from smspec.cli.submission import Submission, uploads
from smspec.service.cost_summary import cost_line
from smspec.source.frozen import dataclass
from smspec.submission.job_inputs import JobInput, job_inputs
from smspec.submission.job_service import JobService
from smspec.submission.s3_service import S3Service
from smspec.submission.training_job import TrainingJob
from smspec.submission.uploading import Delivery, deliveries


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionPlan:
    """``existing``: the job of the spec, None before it is created. ``inputs``: the channels with the author's data."""

    existing: TrainingJob | None
    deliveries: tuple[Delivery, ...]
    inputs: tuple[JobInput, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the job cannot run; empty if it can."""
        return tuple(f"channel `{each.channel}`: {each.fault}" for each in self.inputs if each.fault)


def submission_plan(build: JobBuild, sent: Submission, service: JobService, store: S3Service) -> SubmissionPlan:
    """Ask AWS what exists. Raise `JobRefused` or `AwsUnavailable`."""
    generated = {upload.uri for upload in build.job.plan.uploads}
    prefixes = (uri.rpartition("/")[0] + "/" for uri in generated)
    return SubmissionPlan(
        existing=service.find(sent.name),
        deliveries=tuple(deliveries(store, prefixes, uploads(build.tree))),
        inputs=tuple(each for each in job_inputs(store, sent.request) if each.uri not in generated),
    )


def plan_lines(plan: SubmissionPlan, build: JobBuild, sent: Submission, *, builds_image: bool) -> Iterator[str]:
    """Yield what exists, what will be made, and what it costs at most, for a person."""
    image = build.job.plan.image
    if image is not None:
        made = "is built and pushed unless its registry has it" if builds_image else "must be in its registry"
        yield f"image {image.uri}: {made}"
    for each in plan.deliveries:
        lacking = f"{len(each.missing)} of {len(each.files)} files to upload"
        yield f"source {each.prefix}: {lacking if each.missing else 'is in S3'}"
    for channel in plan.inputs:
        yield f"channel {channel.channel} {channel.uri}: {channel.fault or channel.unknown or 'has data'}"
    state = "exists, " + plan.existing.status if plan.existing else "does not exist yet"
    yield f"job {sent.name}: {state}"
    if build.cost is not None:
        yield cost_line([build.cost])
