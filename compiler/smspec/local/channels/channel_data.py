"""Find the local data of each channel, report errors in them, and say which of them hosts may see where they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from smspec.diagnostics import Finding, Rule
from smspec.local.feeder.entries import ChannelObjects, Entries, entries_of
from smspec.local.feeder.objects import ChannelDataError, LocalStore, Store, StoredObject, StoreUnavailable
from smspec.local.feeder.plan import FeederChannel
from smspec.local.running.request import RunFailed, RunRequest
from smspec.local.running.training_request import Host, TrainingChannel
from smspec.local.s3 import is_s3
from smspec.source import Path
from smspec.source.frozen import dataclass, field, replace
from smspec.source.real_file import is_below
from smspec.spec.model import JobSpec
from smspec.workspace.project_links import LeadsOut, Project

NO_LOCAL_DATA = Rule("SM360", "channel without local data")
LOCAL_DATA_NOT_THERE = Rule("SM361", "local data not found")
UNREADABLE_LOCAL_DATA = Rule("SM362", "unreadable local data")
_MOST_FILES = 2_000
"""A mount for each file: more of them slow down a run, and in the end the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelData:
    """A channel and its source: the local directory or file for its S3 URI, or an S3 URI.

    ``tops``: directories that the objects of a manifest must be in, if that is limited. ``outside``: what it reads
    outside the project.
    """

    channel: TrainingChannel
    source: str
    tops: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()

    @property
    def is_piped(self) -> bool:
        return self.channel.mode == "Pipe"

    def reaches(self, host: Host, hosts: tuple[Host, ...]) -> bool:
        """Return whether ``host``, one of ``hosts``, gets this channel."""
        return host in self.channel.hosts(hosts)

    def feeder_channel(self, host: Host, hosts: tuple[Host, ...]) -> FeederChannel:
        """Return the input of a feeder on ``host``; it also determines which objects a File channel gets there."""
        members = self.channel.hosts(hosts)
        is_sharded = self.channel.distribution == "ShardedByS3Key"
        return self._whole()._replace(
            shard=members.index(host) if is_sharded else 0,
            shards=len(members) if is_sharded else 1,
            shuffle_seed=self.channel.shuffle_seed,
            compression=self.channel.compression,
            record_wrapper=self.channel.record_wrapper,
        )

    def store(self) -> Store:
        """Return the store of the objects. Raise ChannelDataError."""
        if not is_s3(self.source):
            return LocalStore(self._whole())
        # Imported late: boto3 is slow to import, and only these channels need it.
        from smspec.local.s3.store import open_store

        return open_store(self._whole())

    def entries(self, store: Store) -> Entries:
        """Return the content of the channel. Raise ChannelDataError."""
        return entries_of(self._whole(), store)

    def _whole(self) -> FeederChannel:
        return FeederChannel(
            name=self.channel.name,
            source=self.source,
            uri=self.channel.uri or "",
            s3_data_type=self.channel.s3_data_type,
            attributes=list(self.channel.attributes),
            tops=list(self.tops),
        )


def find_data(
    job: JobSpec, channels: Iterable[TrainingChannel], request: RunRequest, generated: Mapping[str, str]
) -> tuple[tuple[ChannelData, ...], tuple[Finding, ...]]:
    """Return the channels with their data, and a finding for each that cannot be fed.

    ``generated``: channels of the source and the runtime → their directory. Raise RunFailed for an invalid ``--data``.
    """
    wanted = tuple(channels)
    _refuse_strange_data(request.data, [channel.name for channel in wanted if channel.name not in generated])
    local = {channel.name: channel.local for channel in job.channels}
    project = Project(request.base_dir)
    data: list[ChannelData] = []
    findings: list[Finding] = []
    for channel in wanted:
        if channel.name in generated:
            data.append(ChannelData(channel=channel, source=generated[channel.name]))
        elif is_s3(request.data.get(channel.name, "")):
            source = request.data[channel.name]
            with request.waits(f"S3 about `{source}`"):
                data.append(_in_s3(channel, source))
        else:
            path: Path = ("channels", channel.name) if channel.name in local else ("api", "InputDataConfig")
            found = _found(channel, path, local.get(channel.name), request, project)
            if isinstance(found, Finding):
                findings.append(found)
            else:
                data.append(found)
    return tuple(data), tuple(findings)


def require_apart(data: Iterable[ChannelData], directory: str) -> None:
    """Reject a run directory that contains data of the run, or is inside them. Raise RunFailed."""
    run = os.path.realpath(directory)
    for each in data:
        if is_s3(each.source):
            continue
        name, source = each.channel.name, os.path.realpath(each.source)
        if is_below(run, source):
            raise RunFailed(
                2, f"`{directory}` is inside the data of channel `{name}`; pass a different directory with -o"
            )
        inside = source if is_below(source, run) else _object_below(each, run)
        if inside is not None:
            raise RunFailed(
                2, f"channel `{name}` reads `{inside}`, which the run would delete; pass a different directory with -o"
            )


def _object_below(data: ChannelData, run: str) -> str | None:
    """Return an object that is a link into the directory of an earlier run."""
    if not os.path.isdir(run):
        return None
    entries = data.entries(data.store())
    places: dict[str, str] = {}
    for stored in entries.objects if isinstance(entries, ChannelObjects) else ():
        above, name = os.path.split(stored.path)
        if above not in places:
            places[above] = os.path.realpath(above)
        place = os.path.realpath(stored.path) if os.path.islink(stored.path) else os.path.join(places[above], name)
        if is_below(place, run):
            return stored.path
    return None


def _found(
    channel: TrainingChannel, path: Path, local: str | None, request: RunRequest, project: Project
) -> ChannelData | Finding:
    """Return a channel with its local data, or a finding. ``path``: its path in the spec."""
    given = request.data.get(channel.name)
    if given is not None:
        data = ChannelData(channel=channel, source=os.path.abspath(given))
        entries = _entries(data, path, None)
        return entries if isinstance(entries, Finding) else data
    if local is None:
        return _no_data(channel.name, path)
    data = ChannelData(channel=channel, source=os.path.abspath(os.path.join(request.base_dir, local)))
    path = (*path, "local")
    # A manifest is not read before it is known to be in the project: messages show parts of it.
    refused = _leading_out(data, (), path, project)
    if isinstance(refused, Finding):
        return refused
    entries = _entries(data, path, local)
    if isinstance(entries, Finding):
        return entries
    objects = [stored.path for stored in entries.objects] if isinstance(entries, ChannelObjects) else []
    return _leading_out(data, objects, path, project)


def _leading_out(data: ChannelData, objects: Sequence[str], path: Path, project: Project) -> ChannelData | Finding:
    """Return a channel with what it reads outside the project, or a finding for what a pull request could add."""
    name, source = data.channel.name, data.source
    is_manifest = data.channel.s3_data_type != "S3Prefix"
    manifest = os.path.join(source, (data.channel.uri or "").rpartition("/")[2]) if os.path.isdir(source) else source
    try:
        outside = project.read_outside(source, objects, manifest if is_manifest else None)
    except LeadsOut as refused:
        return UNREADABLE_LOCAL_DATA.at(
            path,
            f"`channels.{name}.local`: {refused}",
            help=f"copy the data into the project, or pass `--data {name}={os.path.relpath(source)}` to trust them",
        )
    of_manifest = is_manifest and project.tracked([manifest]) is not None
    tops = (os.path.dirname(os.path.realpath(manifest)), project.root) if of_manifest else ()
    return replace(data, tops=tops, outside=outside)


def _refuse_strange_data(data: Mapping[str, str], names: list[str]) -> None:
    for name, source in data.items():
        if name not in names:
            known = ", ".join(f"`{known}`" for known in names) or "none"
            raise RunFailed(2, f"--data: the job has no channel `{name}`; it has {known}")
        if not is_s3(source) and not os.path.exists(source):
            raise RunFailed(2, f"--data {name}={source}: no such file or directory")


def _in_s3(channel: TrainingChannel, source: str) -> ChannelData:
    """Return a channel whose data are in S3, after checking that they exist and can be read."""
    data = ChannelData(channel=channel, source=source)
    try:
        store = data.store()
        # Do not list the whole prefix: that may take minutes, and the feeder does it anyway.
        is_empty = not store.has_objects() if channel.s3_data_type == "S3Prefix" else not len(data.entries(store))
    except ChannelDataError as fault:
        status = 3 if isinstance(fault, StoreUnavailable) else 2
        raise RunFailed(status, f"--data {channel.name}={source}: {fault}") from None
    if is_empty:
        raise RunFailed(
            2, f"--data {channel.name}={source}: no objects found; SageMaker fails a job with an empty channel"
        )
    return data


def _no_data(name: str, path: Path) -> Finding:
    return NO_LOCAL_DATA.at(
        path,
        f"`channels.{name}.local` is not set",
        help=f"add `local: PATH` to the channel, or pass `--data {name}=PATH`",
        label="no `local`",
        on="key",
    )


def _entries(data: ChannelData, path: Path, written: str | None) -> Entries | Finding:
    """Return the content of a channel, or a finding if there is none."""
    name = data.channel.name
    if not os.path.exists(data.source):
        return LOCAL_DATA_NOT_THERE.at(
            path,
            f"`channels.{name}.local`: `{written}` does not exist",
            help=f"create or download the data, or pass `--data {name}=PATH`; the path is relative to the spec",
        )
    try:
        entries = data.entries(data.store())
    except ChannelDataError as fault:
        # As the author wrote it: the path of the checkout is not relevant.
        reason = str(fault).replace(data.source, (written or data.source).rstrip("/") or "/")
        return UNREADABLE_LOCAL_DATA.at(path, f"channel `{name}`: {reason}")
    if not len(entries):
        return LOCAL_DATA_NOT_THERE.at(
            path,
            f"channel `{name}` has no objects: `{written or data.source}`",
            help="SageMaker fails a job if a channel matches no object",
        )
    return entries


@dataclass(frozen=True, slots=True)
class MountedChannel:
    """A whole directory that has exactly the objects of a host, or single files: object → file."""

    directory: str = ""
    files: dict[str, str] = field(default_factory=dict)


def mounted(data: ChannelData, objects: Sequence[StoredObject]) -> MountedChannel | None:
    """Return what to mount so that a host sees ``objects`` of a channel, and nothing else; None: copy them."""
    if is_s3(data.source) or not all(os.access(stored.path, os.R_OK) for stored in objects):
        return None
    if data.channel.s3_data_type == "S3Prefix" and _files_below(data.source) == len(objects):
        return MountedChannel(directory=data.source)
    if len(objects) > _MOST_FILES:
        return None
    return MountedChannel(files={stored.key: stored.path for stored in objects})


def _files_below(source: str) -> int | None:
    """Return the number of files below a directory; None if it also has what an S3 prefix cannot have.

    That is a link, which would lead elsewhere inside a host; a FIFO or a socket, through which a process of this
    machine listens; and an empty directory.
    """
    if not os.path.isdir(source):
        return None
    count = 0
    ahead = [source]
    while ahead:
        is_empty = True
        with os.scandir(ahead.pop()) as entries:
            for entry in entries:
                is_empty = False
                if entry.is_file(follow_symlinks=False):
                    count += 1
                elif entry.is_dir(follow_symlinks=False):
                    ahead.append(entry.path)
                else:
                    return None
        if is_empty:
            return None
    return count
