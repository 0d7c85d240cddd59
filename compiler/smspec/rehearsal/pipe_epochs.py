"""The first epoch of each Pipe channel of a job, in which faults of its stream are injected."""

from __future__ import annotations

import os
from dataclasses import replace

from smspec.local.channel_data import find_data
from smspec.local.feeder.fault import ChannelDataError
from smspec.local.flows import Flow
from smspec.rehearsal.record_cut import RecordCut, record_cut
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.stream_start import read_stream_start
from smspec.rehearsal.trial import Trial
from smspec.source.deep_directories import remove_tree
from smspec.spec.model import PipeLoopEntry


def no_pipe_reason(rehearsal: Rehearsal) -> str | None:
    """Return why a fault of a stream makes no sense for a job."""
    has_pipes = any(channel.mode == "Pipe" for channel in rehearsal.training.channels)
    return None if has_pipes else "the job has no Pipe channel"


def first_epochs(trial: Trial) -> list[Flow]:
    """Return the first epoch of each channel that was read, on its first host that got data."""
    found: dict[str, Flow] = {}
    for flow in trial.summary.flows:
        if flow.mode == "Pipe" and flow.size:
            found.setdefault(flow.channel, flow)
    return list(found.values())


def cut_of(rehearsal: Rehearsal, epoch: Flow) -> RecordCut | None:
    """Return where the stream of an epoch can be cut inside a record, before its end; None for an unknown format."""
    training, request = rehearsal.training, rehearsal.request
    channel = next(channel for channel in training.channels if channel.name == epoch.channel)
    data = {name: path for name, path in request.data.items() if name == channel.name}
    found, _ = find_data(rehearsal.job, [channel], replace(request, data=data), {})
    hosts = training.hosts(request.hosts)
    host = next(host for host in hosts if host.name == epoch.host)
    directory = os.path.join(request.scratch_dir, f"stream-{channel.name}")
    os.makedirs(directory)
    try:
        start = read_stream_start(found[0], host, hosts, directory)
    except ChannelDataError:
        return None
    finally:
        remove_tree(directory, ignore_errors=True)
    entry = rehearsal.job.entry_point
    view = entry.read.get(channel.name, "") if isinstance(entry, PipeLoopEntry) else ""
    content = start.content[: epoch.size]
    return record_cut(content, start.is_whole and len(content) == len(start.content), channel.content_type or view)
