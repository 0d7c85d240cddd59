"""The files that ``submit --upload-data`` uploads: those at ``local`` of each channel, by their URIs in S3."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Mapping

from smspec.cli.command_errors import CommandRefused
from smspec.diagnostics.visible import visible
from smspec.local.feeder.objects import LONGEST_KEY, ChannelDataError, objects_under
from smspec.pipeline.compilation import Compiled
from smspec.spec.model import Channel
from smspec.submission.object_content import FileContent
from smspec.submission.s3_service import parts
from smspec.workspace.project_links import LeadsOut, Project

LocalData = Mapping[str, Mapping[str, FileContent]]
"""Channel → URI → file."""

_MOST_PLACES = 5
"""Places outside the project that are named."""


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
