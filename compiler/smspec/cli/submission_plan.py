"""What exists before a job is submitted, and what its submission will make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smspec.cli.console import Console
from smspec.cli.job_build import JobBuild
from smspec.cli.local_data import LocalData, left_alone
from smspec.cli.submission import Submission, uploads
from smspec.cli.transfer_progress import transfer_progress
from smspec.local.units import size
from smspec.render.iam.kms import source_key
from smspec.service.cost_summary import cost_line
from smspec.source.frozen import dataclass, replace
from smspec.submission.data_uploading import DataPlan, plan_data
from smspec.submission.job_inputs import JobInput, job_inputs
from smspec.submission.s3_service import S3Service
from smspec.submission.training_job import TrainingJob
from smspec.submission.uploading import Delivery, deliveries


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionPlan:
    """``existing``: the job of the spec, None before it is created.

    ``data``: the channels whose local data are uploaded; ``inputs``: all others with data in S3. ``left_alone``: why
    an upload does not include a channel.
    """

    existing: TrainingJob | None
    deliveries: tuple[Delivery, ...]
    inputs: tuple[JobInput, ...]
    data: tuple[DataPlan, ...]
    left_alone: Mapping[str, str]

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the job cannot run; empty if it can."""
        return (
            *(self._missing(each) for each in self.inputs if each.fault),
            *(_difference(each) for each in self.data if each.differing),
        )

    def _missing(self, channel: JobInput) -> str:
        reason = self.left_alone.get(channel.channel)
        help = f"; --upload-data leaves it alone: {reason}" if reason else ""
        return f"channel `{channel.channel}`: {channel.fault}{help}"


def submission_plan(
    build: JobBuild, sent: Submission, existing: TrainingJob | None, store: S3Service
) -> SubmissionPlan:
    """Ask S3 what exists. Raise `JobRefused` or `AwsUnavailable`."""
    generated = {upload.uri for upload in build.job.plan.uploads}
    prefixes = (uri.rpartition("/")[0] + "/" for uri in generated)
    return SubmissionPlan(
        existing=existing,
        deliveries=tuple(deliveries(store, prefixes, uploads(build.tree, source_key(build.job.plan)))),
        inputs=tuple(each for each in job_inputs(store, sent.request) if each.uri not in generated),
        data=(),
        left_alone={},
    )


def with_data(
    plan: SubmissionPlan, build: JobBuild, store: S3Service, files: LocalData, console: Console
) -> SubmissionPlan:
    """Add the upload of local data to a plan, after comparing them with S3. Raise `JobRefused` or `AwsUnavailable`."""
    return replace(
        plan,
        inputs=tuple(each for each in plan.inputs if each.channel not in files),
        data=tuple(_data_plans(build, store, files, console)),
        left_alone=left_alone(build.job),
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
    for data in plan.data:
        yield f"channel {data.channel} {data.uri}: {_state(data)}"
    for channel in plan.inputs:
        yield f"channel {channel.channel} {channel.uri}: {channel.fault or channel.unknown or 'has data'}"
    state = "exists, " + plan.existing.status if plan.existing else "does not exist yet"
    yield f"job {sent.name}: {state}"
    if build.cost is not None:
        yield cost_line([build.cost])


def _data_plans(build: JobBuild, store: S3Service, files: LocalData, console: Console) -> Iterator[DataPlan]:
    uris = {channel.name: str(channel.s3) for channel in build.job.job.channels}
    for channel, found in files.items():
        whole = sum(file.size for file in found.values())
        with transfer_progress(f"comparing the data of channel {channel} with S3", whole, console) as advance:
            yield plan_data(store, channel, uris[channel], found, advance)


def _state(data: DataPlan) -> str:
    """Return what an upload does, and what the job reads besides."""
    total, missing = len(data.files), len(data.missing)
    state = f"{missing} of {total} files to upload, {size(data.missing_bytes)}" if missing else f"has all {total} files"
    if data.differing:
        state += f"; {len(data.differing)} differ"
    if data.unverified:
        state += f"; {len(data.unverified)} of the same size cannot be compared, and are left alone"
    if data.others:
        state += f"; the job also reads {data.others} objects that are not in `local`"
    return state


def _difference(data: DataPlan) -> str:
    first, more = data.differing[0], len(data.differing) - 1
    rest = f", and so do {more} more objects" if more else ""
    return (
        f"channel `{data.channel}`: `{first}` differs from `{data.files[first].path}`{rest}; --upload-data overwrites"
        f" nothing: delete what differs, or set `channels.{data.channel}.s3` to a new prefix"
    )
