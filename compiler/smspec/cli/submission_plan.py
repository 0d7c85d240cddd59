"""What exists before a job is submitted, and what its submission will make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smspec.cli.console import Console
from smspec.cli.dated_file_command import count
from smspec.cli.image_arguments import published_image
from smspec.cli.job_build import JobBuild
from smspec.cli.local_data import LocalData, left_alone, uploadable
from smspec.cli.submission import Submission, uploads
from smspec.cli.transfer_progress import transfer_progress
from smspec.diagnostics.visible import visible
from smspec.local.units import size
from smspec.render.iam.kms import source_key
from smspec.service.cost_summary import cost_line
from smspec.source.frozen import dataclass, replace
from smspec.submission.data_uploading import DataPlan, plan_data
from smspec.submission.job_inputs import JobInput, channels_in_s3, job_inputs
from smspec.submission.job_service import DIGEST_TAG, JobService
from smspec.submission.s3_service import S3Service
from smspec.submission.tagging import stale_tags
from smspec.submission.training_job import TrainingJob
from smspec.submission.uploading import Delivery, deliveries

_UNLESS_THERE = "is built and pushed unless its registry has it"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePlan:
    """``state``: what happens to the image of a job. ``fault``: why the job cannot start with it; empty if it can."""

    uri: str
    state: str
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionPlan:
    """``existing``: the job of the spec, None before it is created. ``stale_tags``: its tags that will change, by name.

    ``image`` None: the job uses an existing one. ``data``: the channels whose local data are uploaded; ``inputs``: all
    others with data in S3. ``left_alone``: why an upload does not include a channel. ``uploadable``: the channels that
    an upload would include.
    """

    existing: TrainingJob | None
    stale_tags: Mapping[str, str]
    image: ImagePlan | None
    deliveries: tuple[Delivery, ...]
    inputs: tuple[JobInput, ...]
    data: tuple[DataPlan, ...]
    left_alone: Mapping[str, str]
    uploadable: frozenset[str]

    @property
    def faults(self) -> tuple[str, ...]:
        """Why the job cannot run; empty if it can."""
        return (
            *([self.image.fault] if self.image and self.image.fault else []),
            *(self._missing(each) for each in self.inputs if each.fault),
            *(_difference(each) for each in self.data if each.differing),
        )

    def _missing(self, channel: JobInput) -> str:
        reason = self.left_alone.get(channel.channel)
        help = f"; --upload-data leaves it alone: {reason}" if reason else ""
        if not reason and channel.channel in self.uploadable:
            help = "; --upload-data uploads the data at its `local`"
        return f"channel `{channel.channel}`: {channel.fault}{help}"


def submission_plan(
    build: JobBuild,
    sent: Submission,
    service: JobService,
    store: S3Service,
    *,
    existing: TrainingJob | None,
    image: ImagePlan | None,
) -> SubmissionPlan:
    """Ask AWS what exists. Raise `JobRefused` or `AwsUnavailable`."""
    generated = {upload.uri for upload in build.job.plan.uploads}
    prefixes = (uri.rpartition("/")[0] + "/" for uri in generated)
    return SubmissionPlan(
        existing=existing,
        stale_tags={} if existing is None else _stale_tags(service, existing, sent),
        image=image,
        deliveries=tuple(deliveries(store, prefixes, uploads(build.tree, source_key(build.job.plan)))),
        inputs=tuple(each for each in job_inputs(store, sent.request) if each.uri not in generated),
        data=(),
        left_alone={},
        uploadable=uploadable(build.job),
    )


def _stale_tags(service: JobService, job: TrainingJob, sent: Submission) -> dict[str, str]:
    stale = stale_tags(service, job, sent.tags)
    # A job with a chosen name belongs to a different request if its digest differs: it is left alone.
    return stale if sent.name_is_derived or DIGEST_TAG not in stale else {}


def image_plan(build: JobBuild, profile: str | None, *, builds: bool, looks: bool) -> ImagePlan | None:
    """Return the plan for the image of a job. ``looks``: ask its registry. Raise `ResourceUnavailable`."""
    image = build.job.plan.image
    if image is None:
        return None
    if not looks:
        return ImagePlan(uri=image.uri, state=_UNLESS_THERE if builds else "must be in its registry")
    if published_image(build, profile) is not None:
        return ImagePlan(uri=image.uri, state="is in its registry")
    if builds:
        return ImagePlan(uri=image.uri, state="is built and pushed")
    fault = f"`{image.uri}` is not in its registry; submit without --no-build, or run `smspec build --push` before"
    return ImagePlan(uri=image.uri, state="is not in its registry", fault=fault)


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


def plan_lines(plan: SubmissionPlan, build: JobBuild, sent: Submission) -> Iterator[str]:
    """Yield what exists, what will be made, and what it costs at most, for a person."""
    if plan.image is not None:
        yield f"image {plan.image.uri}: {plan.image.state}"
    for each in plan.deliveries:
        lacking = f"{len(each.missing)} of {count(len(each.files), 'file')} to upload"
        yield f"source {each.prefix}: {lacking if each.missing else 'is in S3'}"
    for data in plan.data:
        yield f"channel {data.channel} {data.uri}: {_state(data)}"
    for channel in plan.inputs:
        state = "has no data" if channel.fault else channel.unknown or "has data"
        yield f"channel {channel.channel} {channel.uri}: {state}"
    state = "exists, " + plan.existing.status if plan.existing else "does not exist yet"
    yield f"job {sent.name}: {state}{_changed(plan.stale_tags)}"
    yield from _cost(build)


def unchecked_lines(build: JobBuild, sent: Submission, files: LocalData, *, builds: bool) -> Iterator[str]:
    """Yield what a plan contains without any call to AWS."""
    image = image_plan(build, None, builds=builds, looks=False)
    if image is not None:
        yield f"image {image.uri}: {image.state}, not checked"
    for upload in build.job.plan.uploads:
        yield f"{upload.kind} {upload.uri}: is uploaded unless S3 has it, not checked"
    generated = {upload.uri for upload in build.job.plan.uploads}
    for name, uri, _ in channels_in_s3(sent.request):
        found = files.get(name)
        if found is not None:
            whole = size(sum(file.size for file in found.values()))
            yield f"channel {name} {uri}: {count(len(found), 'local file')}, {whole}, not compared with S3"
        elif uri not in generated:
            yield f"channel {name} {uri}: not checked"
    yield f"job {sent.name}: not checked"
    yield from _cost(build)
    yield "no AWS credentials, so nothing in AWS was checked; set AWS_PROFILE or log in with `aws`"


def _cost(build: JobBuild) -> Iterator[str]:
    if build.cost is not None:
        yield cost_line([build.cost])


def _changed(tags: Mapping[str, str]) -> str:
    return f", with {count(len(tags), 'tag')} to change: {', '.join(map(visible, tags))}" if tags else ""


def _data_plans(build: JobBuild, store: S3Service, files: LocalData, console: Console) -> Iterator[DataPlan]:
    uris = {channel.name: str(channel.s3) for channel in build.job.job.channels}
    for channel, found in files.items():
        whole = sum(file.size for file in found.values())
        with transfer_progress(f"comparing the data of channel {channel} with S3", whole, console) as advance:
            yield plan_data(store, channel, uris[channel], found, advance)


def _state(data: DataPlan) -> str:
    """Return what an upload does, and what the job reads besides."""
    total, missing = count(len(data.files), "file"), len(data.missing)
    state = f"{missing} of {total} to upload, {size(data.missing_bytes)}" if missing else f"has {total}"
    if data.differing:
        state += f"; {len(data.differing)} differ"
    if data.unverified:
        state += f"; {len(data.unverified)} of the same size cannot be compared, and are left alone"
    if data.others:
        state += f"; `local` lacks {count(data.others, 'object')} that the job reads"
    return state


def _difference(data: DataPlan) -> str:
    first, more = data.differing[0], len(data.differing) - 1
    rest = f", and {count(more, 'more object')} too" if more else ""
    return (
        f"channel `{data.channel}`: `{first}` differs from `{data.files[first].path}`{rest}; --upload-data overwrites"
        f" nothing: delete what differs, or set `channels.{data.channel}.s3` to a new prefix"
    )
