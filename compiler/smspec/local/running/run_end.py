"""The end of a run: its status, and warnings about what worked on this machine, and is a loss in SageMaker."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from smspec.local.record.flows import Flow
from smspec.local.record.summary import Summary
from smspec.local.running.request import JobStatus
from smspec.local.running.run_directory import HostDirectory
from smspec.local.running.supervision import Verdict, name_of
from smspec.local.running.training_request import Host, TrainingChannel, TrainingRequest
from smspec.local.watch.host_log import LogTail
from smspec.service.failures import JobFailure, diagnose
from smspec.source.frozen import replace
from smspec.source.real_file import open_below, walked

_FAILURE_CHARACTERS = 1024
"""SageMaker keeps the first 1024 characters of /opt/ml/output/failure (FailureReason)."""
_FAILURE = ("opt", "ml", "output", "failure")
_MISSING_MODULE = re.compile(r"\w+: ModuleNotFoundError: No module named '([\w.]+)'")
_OF_LEADER = re.compile(
    r"the job failed on the leader, ([\w.-]+), with|the leader, ([\w.-]+), went away|to the leader, ([\w.-]+):"
)
"""What a host that waits for its leader writes (`smspec_runtime.peers.member`)."""
_STOPPED = 128 + signal.SIGTERM
_GB = 1 << 30
_MOST_NAMES = 3


def status_of(verdict: Verdict) -> JobStatus:
    """Return the status of the job, as in the API."""
    if verdict.signal is not None or verdict.overran or verdict.is_interrupted:
        return "Stopped"
    return "Failed" if verdict.failed is not None else "Completed"


def exit_status_of(verdict: Verdict) -> int:
    """Return the exit status of the command."""
    if verdict.signal is not None:
        return 128 + verdict.signal
    if verdict.is_ours:
        return 3
    return 1 if verdict.failed is not None or verdict.overran or verdict.is_interrupted else 0


def with_its_cause(
    verdict: Verdict, statuses: Mapping[str, int | None], host: Callable[[str], HostDirectory]
) -> Verdict:
    """Return the verdict about the leader if the host that failed first, by its reason, only repeats its failure.

    Both end at the same moment, and an engine may report either first. ``statuses``: of all hosts.
    """
    if verdict.failed is None or verdict.fault:
        return verdict
    found = _OF_LEADER.search(_written_reason(host(verdict.failed)))
    leader = next(filter(None, found.groups()), "") if found else ""
    status = statuses.get(leader)
    if not status or status == _STOPPED:
        return verdict
    return replace(verdict, failed=leader, job_status=status)


def _written_reason(place: HostDirectory) -> str:
    with suppress(OSError):
        # The script may have created a link to a file of this machine.
        descriptor = open_below(place.root, _FAILURE)
        with open(descriptor, encoding="utf-8", errors="replace") as file:
            return file.read(_FAILURE_CHARACTERS).strip()
    return ""


def failure_reason(verdict: Verdict, host: Callable[[str], HostDirectory]) -> str:
    """Return why the job failed or was stopped; empty for one that completed."""
    if verdict.signal is not None:
        return f"stopped by {name_of(verdict.signal)}"
    if verdict.is_interrupted:
        return "interrupted on purpose"
    if verdict.overran:
        return "MaxRuntimeExceeded: the job ran longer than MaxRuntimeInSeconds"
    if verdict.fault or verdict.failed is None:
        return verdict.fault
    return (
        _written_reason(host(verdict.failed))
        or f"{verdict.failed} exited with status {verdict.job_status} and wrote no failure file"
    )


def failure_hints(summary: Summary, logs: Mapping[str, LogTail], python: str) -> Iterator[str]:
    """Yield the likely cause of a failed run, and what to do. ``python``: what ran the job on this machine."""
    if summary.status != "Failed":
        return
    match = _MISSING_MODULE.match(summary.failure_reason)
    if match is not None:
        yield (
            f"`{python}` has no module `{match[1]}`: add it to `image.python_packages`, "
            "or choose a different Python with --python"
        )
        return
    tail = logs.get(summary.failed or "")
    log = [(summary.failed or "", line) for line in tail.text.splitlines()] if tail else []
    cause = diagnose(JobFailure(reason=summary.failure_reason, log=log)).cause
    if cause is not None:
        yield f"likely cause: {cause.cause} ({cause.name}); {cause.fix}"


class ClosingWarnings:
    """The warnings of one run. Create it when the hosts are laid out, before they start.

    ``has_resumed``: the hosts found checkpoints, so the job may have had nothing left to read.
    """

    def __init__(
        self,
        training: TrainingRequest,
        hosts: tuple[Host, ...],
        places: Mapping[str, HostDirectory],
        *,
        has_resumed: bool,
    ) -> None:
        self._training = training
        self._hosts = hosts
        self._places = places
        self._has_resumed = has_resumed
        checkpoints = training.checkpoint_directory or ""
        self._checkpoints = [
            place.root + os.path.normpath(checkpoints) for place in places.values() if checkpoints.startswith("/")
        ]
        self._before = times_of_change(self._checkpoints)

    def of_run(self, status: JobStatus, flows: Sequence[Flow]) -> list[str]:
        """Return what is certain of a run that ended so."""
        training, found = self._training, list(hosts_without_data(self._training.channels, self._hosts, flows))
        with suppress(OSError):  # the script may have removed a directory, or its rights
            found += full_volumes(training, self._hosts, flows, self._places)
        if status != "Completed":
            return found
        if not self._has_resumed:
            found += unread_pipes(training.channels, self._hosts, flows)
        if self._checkpoints and training.checkpoint_directory:
            with suppress(OSError):
                found += unused_checkpoints(
                    training.checkpoint_directory, self._checkpoints, self._before, is_spot=training.is_spot
                )
        return found


def hosts_without_data(
    channels: Iterable[TrainingChannel], hosts: tuple[Host, ...], flows: Iterable[Flow]
) -> Iterator[str]:
    """Warn about hosts whose part of a sharded channel was empty, while others got data."""
    of_channels: dict[str, dict[str, list[Flow]]] = {}
    for flow in flows:
        of_channels.setdefault(flow.channel, {}).setdefault(flow.host, []).append(flow)
    for channel in channels:
        if channel.distribution != "ShardedByS3Key":
            continue
        of_hosts = of_channels.get(channel.name, {})
        members = [host.name for host in channel.hosts(hosts)]
        idle = [name for name in members if _is_empty(of_hosts.get(name, []))]
        if idle and any(flow.size for flows_of_host in of_hosts.values() for flow in flows_of_host):
            yield (
                f"{_listed(idle, len(members))} got no data of channel `{channel.name}`: `ShardedByS3Key` gives each "
                "host whole objects; use fewer hosts or more objects"
            )


def unread_pipes(channels: Iterable[TrainingChannel], hosts: tuple[Host, ...], flows: Iterable[Flow]) -> Iterator[str]:
    """Warn about Pipe channels whose FIFO no host of a completed job has opened."""
    opened = {flow.channel for flow in flows}
    for channel in channels:
        if channel.mode == "Pipe" and channel.name not in opened and channel.hosts(hosts):
            yield (
                f"no host opened Pipe channel `{channel.name}`: the job ran without its data; "
                f"read `{channel.name}_0`, or remove the channel"
            )


def full_volumes(
    training: TrainingRequest, hosts: tuple[Host, ...], flows: Iterable[Flow], places: Mapping[str, HostDirectory]
) -> Iterator[str]:
    """Warn about a host whose File data and output need more than the storage that the job asks for."""
    from smspec.service.facts import instance  # imported late: reads a table

    copied: dict[str, int] = {}
    for flow in flows:
        if flow.mode == "File":
            copied[flow.host] = copied.get(flow.host, 0) + flow.size
    for host in hosts:
        facts = instance(host.instance_type)
        if facts is None or facts.nvme_gb is None:
            continue
        capacity = facts.nvme_gb or training.volume_gb
        if not capacity:
            continue
        written = sum(map(_size_below, _written(training, places[host.name])))
        size = copied.get(host.name, 0) + written
        if size > capacity * _GB:
            where = f"`{host.instance_type}` has" if facts.nvme_gb else "`hosts.volume` is"
            way = "use a larger instance type" if facts.nvme_gb else f"set it to more than {-(-size // _GB):,}GB"
            yield (
                f"{host.name}: {where} {capacity:,} GB, but File data and output have {size / _GB:,.1f} GB: in "
                f"SageMaker the disk is full before the job ends; {way}, or use FastFile mode"
            )
            return


def unused_checkpoints(directory: str, places: Sequence[str], before: Sequence[int], *, is_spot: bool) -> Iterator[str]:
    """Warn if no host of a completed job has written a checkpoint.

    ``places``: the checkpoint directories of the hosts, and their times of change when the job started. A job that
    removes its checkpoints at the end has written some.
    """
    if _is_elsewhere(directory) or not all(map(os.path.isdir, places)) or any(map(os.listdir, places)):
        return
    if [os.stat(place).st_mtime_ns for place in places] == list(before):
        when = "interrupts it" if is_spot else "restarts it"
        yield (
            f"the job wrote nothing to {directory}: if SageMaker {when}, it starts from scratch; save a checkpoint "
            "there, and load the newest one at the start"
        )


def times_of_change(places: Sequence[str]) -> list[int]:
    """Return when something was last added to directories, or removed from them."""
    return [os.stat(place).st_mtime_ns for place in places if os.path.isdir(place)]


def _is_elsewhere(directory: str) -> bool:
    """Return whether a local process may have written to the directory of this machine instead."""
    return os.path.exists(directory)


def _is_empty(flows: Sequence[Flow]) -> bool:
    """Return whether a host got a channel, and nothing in it."""
    is_over = any(not flow.is_early and not flow.injected for flow in flows)
    return is_over and not any(flow.size for flow in flows)


def _listed(names: Sequence[str], count: int) -> str:
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{len(names)} of {count} hosts ({', '.join(names[:_MOST_NAMES])}, …)"


def _written(training: TrainingRequest, place: HostDirectory) -> list[str]:
    found = [place.model, place.output_data]
    checkpoints = training.checkpoint_directory
    if checkpoints is not None and checkpoints.startswith("/opt/ml/checkpoints"):
        found.append(place.root + os.path.normpath(checkpoints))
    return found


def _size_below(root: str) -> int:
    """Return the bytes on the disk; a sparse file counts with its blocks."""
    size = 0
    if os.path.islink(root):
        return size
    for directory, _, files in walked(root):
        for name in files:
            status = os.lstat(os.path.join(directory, name))
            size += min(status.st_size, status.st_blocks * 512)
    return size
