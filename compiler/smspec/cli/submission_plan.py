"""What a submission will make, as far as the spec alone decides it, and the files at ``local`` that it uploads."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from smspec.cli.console import CommandRefused, Console
from smspec.cli.image_arguments import JobBuild
from smspec.cli.submission import Submission
from smspec.cli.waiting import transfer_progress
from smspec.diagnostics import count
from smspec.diagnostics.quoting import visible
from smspec.local.feeder.objects import LONGEST_KEY, ChannelDataError, objects_under
from smspec.local.record.units import size
from smspec.pipeline.compilation import Compiled
from smspec.service.job_costs import cost_line, hosts_text
from smspec.service.request import channels_in_s3
from smspec.spec.model import Channel
from smspec.submission.s3_service import FileContent
from smspec.workspace.project_links import LeadsOut, Project

if TYPE_CHECKING:
    from smspec.submission.s3_service import RegionalS3
    from smspec.submission.uploading import DataPlan

LocalData = Mapping[str, Mapping[str, FileContent]]
"""Channel → URI → file."""

_MOST_PLACES = 5
"""Places outside the project that are named."""


def plan_lines(build: JobBuild, sent: Sequence[Submission], *, builds: bool) -> Iterator[str]:
    """Yield what the submission makes and what its job reads, without any call to AWS."""
    plan, first = build.job.plan, sent[0]
    yield f"job {first.name}: {hosts_text(first.request)}"
    for number, each in enumerate(sent[1:], 2):
        yield f"alternative {number}: {each.name}, {hosts_text(each.request)}"
    if plan.queue is not None:
        shares = [f"share {share}" for share in (plan.queue.share, plan.queue.quota_share) if share is not None]
        shares += [] if plan.queue.priority is None else [f"priority {plan.queue.priority}"]
        yield f"queue {plan.queue.name}: {', '.join(shares) or 'the job waits there for its instances'}"
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


def data_plans(build: JobBuild, store: RegionalS3, files: LocalData, console: Console) -> Iterator[DataPlan]:
    """Yield the upload of each channel, after comparing local data with S3. Raise `JobRefused` or `AwsUnavailable`."""
    # Imported late: boto3 takes a second to import, and the plan is shown before.
    from smspec.submission.uploading import plan_data

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


def local_data(job: Compiled, show: Callable[[str], None]) -> LocalData:
    """Return the files of each channel that has ``local``, and show what is outside the project.

    Raise `CommandRefused` if there is nothing to upload, or a pull request could have added it.
    """
    channels = [channel for channel in job.job.channels if channel.s3]
    if all(channel.local is None for channel in channels):
        raise CommandRefused("--upload-data: no channel of the job has both `s3` and `local`; add `local: PATH` to one")
    project = Project(job.inputs.directory)
    data = {
        channel.name: _files(channel, job.inputs.directory, project, show)
        for channel in channels
        if not _reason(channel)
    }
    _check_targets(data)
    return data


def _check_targets(data: LocalData) -> None:
    """Raise `CommandRefused` if two channels with a prefix in common have different files for one object."""
    found: dict[str, tuple[str, str]] = {}
    for channel, files in data.items():
        for uri, file in files.items():
            other, path = found.setdefault(uri, (channel, file.path))
            if os.path.realpath(path) != os.path.realpath(file.path):
                raise CommandRefused(
                    f"channels `{other}` and `{channel}` upload different files to `{uri}`: `{path}` and `{file.path}`;"
                    " change `s3` of one"
                )


def left_alone(job: Compiled) -> dict[str, str]:
    """Return the channels that are not uploaded, and why."""
    return {channel.name: reason for channel in job.job.channels if channel.s3 and (reason := _reason(channel))}


def uploadable(job: Compiled) -> frozenset[str]:
    """Return the channels that are uploaded."""
    return frozenset(channel.name for channel in job.job.channels if channel.s3 and not _reason(channel))


def _reason(channel: Channel) -> str:
    if channel.s3_data_type != "S3Prefix":
        return "it uploads no manifests, whose objects may be anywhere"
    return "" if channel.local is not None else f"`channels.{channel.name}.local` is not set"


def _files(channel: Channel, base_dir: str, project: Project, show: Callable[[str], None]) -> dict[str, FileContent]:
    from smspec.submission.s3_service import parts  # imported late, as above

    where = f"channel `{channel.name}`: `local: {visible(str(channel.local))}`"
    source = os.path.abspath(os.path.join(base_dir, str(channel.local)))
    try:
        project.read_outside(source, ())  # before what a link leads to is listed
        objects = objects_under(source)
        outside = project.read_outside(source, [each.path for each in objects])
    except LeadsOut as refused:
        raise CommandRefused(f"{where}: {visible(str(refused))}; copy the data into the project") from None
    except ChannelDataError as fault:
        raise CommandRefused(f"{where}: {fault}") from None
    if not objects:
        raise CommandRefused(f"{where} has no files to upload")
    if outside:
        more = f" and {len(outside) - _MOST_PLACES} more" if len(outside) > _MOST_PLACES else ""
        places = ", ".join(f"`{visible(place)}`" for place in outside[:_MOST_PLACES])
        show(f"channel {channel.name} uploads what is outside the project: {places}{more}")
    uri = str(channel.s3)
    # `s3` may be the key of the one file, which is a prefix of itself.
    is_key = not os.path.isdir(source) and posixpath.basename(uri) == objects[0].key
    above = uri if uri.endswith("/") else f"{uri}/"
    files = {}
    for each in objects:
        target = uri if is_key else above + each.key
        try:
            length = len(parts(target)[1].encode())
        except UnicodeEncodeError:
            raise CommandRefused(
                f"{where}: the name of `{visible(each.path)}` is not UTF-8, as a key must be"
            ) from None
        if length > LONGEST_KEY:
            raise CommandRefused(f"{where}: `{visible(target[:80])}…` is longer than the {LONGEST_KEY} bytes of a key")
        files[target] = FileContent(path=each.path, size=each.size or 0)
    return files
