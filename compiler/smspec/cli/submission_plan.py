"""What a submission will make, as far as the spec alone decides it, and the data that it uploads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from smspec.cli.console import Console
from smspec.cli.dated_file_command import count
from smspec.cli.image_arguments import JobBuild
from smspec.cli.submission import Submission
from smspec.cli.waiting import transfer_progress
from smspec.local.units import size
from smspec.service.job_costs import cost_line, hosts_text
from smspec.submission.job_inputs import channels_in_s3

if TYPE_CHECKING:
    from smspec.cli.local_data import LocalData
    from smspec.submission.data_uploading import DataPlan
    from smspec.submission.s3_service import S3Service


def plan_lines(build: JobBuild, sent: Sequence[Submission], *, builds: bool) -> Iterator[str]:
    """Yield what the submission makes and what its job reads, without any call to AWS."""
    plan, first = build.job.plan, sent[0]
    yield f"job {first.name}: {hosts_text(first.request)}"
    for number, each in enumerate(sent[1:], 2):
        yield f"alternative {number}: {each.name}, {hosts_text(each.request)}"
    if plan.image is not None:
        state = "is built and pushed unless its registry has it" if builds else "must be in its registry"
        yield f"image {plan.image.uri}: {state}"
    for upload in plan.uploads:
        yield f"{upload.kind} {upload.uri}: is uploaded unless S3 has it"
    generated = {upload.uri for upload in plan.uploads}
    for name, uri, _ in channels_in_s3(first.request):
        if uri not in generated:
            yield f"channel {name} {uri}"
    if build.cost is not None:
        yield cost_line([build.cost])


def local_data_lines(sent: Submission, files: LocalData) -> Iterator[str]:
    """Yield the local data that an upload would compare with S3."""
    for name, uri, _ in channels_in_s3(sent.request):
        found = files.get(name)
        if found is not None:
            whole = size(sum(file.size for file in found.values()))
            yield f"channel {name} {uri}: {count(len(found), 'local file')}, {whole}, not compared with S3"


def data_plans(build: JobBuild, store: S3Service, files: LocalData, console: Console) -> Iterator[DataPlan]:
    """Yield the upload of each channel, after comparing local data with S3. Raise `JobRefused` or `AwsUnavailable`."""
    # Imported late: boto3 takes a second to import, and the plan is shown before.
    from smspec.submission.data_uploading import plan_data

    uris = {channel.name: str(channel.s3) for channel in build.job.job.channels}
    for channel, found in files.items():
        whole = sum(file.size for file in found.values())
        with transfer_progress(f"comparing the data of channel {channel} with S3", whole, console) as advance:
            yield plan_data(store, channel, uris[channel], found, advance)


def data_line(data: DataPlan) -> str:
    """Return what an upload does, and what the job reads besides."""
    total, missing = count(len(data.files), "file"), len(data.missing)
    state = f"{missing} of {total} to upload, {size(data.missing_bytes)}" if missing else f"has {total}"
    if data.differing:
        state += f"; {len(data.differing)} differ"
    if data.unverified:
        state += f"; {len(data.unverified)} of the same size cannot be compared, and are left alone"
    if data.others:
        state += f"; `local` lacks {count(data.others, 'object')} that the job reads"
    return f"channel {data.channel} {data.uri}: {state}"


def difference(data: DataPlan) -> str:
    """Return why data cannot be uploaded: S3 has different ones."""
    first, more = data.differing[0], len(data.differing) - 1
    rest = f", and {count(more, 'more object')} too" if more else ""
    return (
        f"channel `{data.channel}`: `{first}` differs from `{data.files[first].path}`{rest}; --upload-data overwrites"
        f" nothing: delete what differs, or set `channels.{data.channel}.s3` to a new prefix"
    )
