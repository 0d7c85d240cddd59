"""Promises about Pipe streams: faults in the first epoch of each channel, which pauses, or ends inside a record."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial

from smspec.local.channels.channel_data import find_data
from smspec.local.feeder.objects import ChannelDataError
from smspec.local.feeder.plan import Injection
from smspec.local.record.flows import Flow
from smspec.local.record.units import duration
from smspec.local.running.request import SurroundingFaults
from smspec.rehearsal.disturbances import broken, failure_of, hanging, hangs, likeness, run_with, time_limit
from smspec.rehearsal.record_cut import RecordCut, read_stream_start, record_cut
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.report import PromiseOutcome, kept, not_rehearsed
from smspec.rehearsal.trial import Trial
from smspec.source.deep_directories import remove_tree
from smspec.spec.model import PipeLoopEntry

_SECONDS = 10.0
_ADVICE_STALLED_PIPE = (
    "read until the end of the FIFO, and do not take silence for its end; a timeout for the next byte should be "
    "minutes, and an error"
)

_ADVICE_TRUNCATED_PIPE = (
    "raise an exception if the data end inside a record; the readers of `smspec_runtime.pipe` do, and others, such as "
    "`read_recordio` of the SageMaker SDK, return the part as if it were whole"
)
_LARGEST_BUFFER = 4 << 20
"""What a reader may read ahead of the record that it needs."""
_FORMATS = "RecordIO, TFRecord, JSON lines, and CSV with several columns (set `content_type`)"


def rehearse_stalled_pipe(rehearsal: Rehearsal) -> PromiseOutcome:
    """A Pipe stream that falls silent in its middle, and goes on later."""
    undisturbed = rehearsal.undisturbed()[0]
    seconds = min(_SECONDS, rehearsal.patience)
    limit = time_limit(rehearsal) + seconds
    seen = []
    for epoch in first_epochs(undisturbed):
        injection = Injection(stall=seconds, channel=epoch.channel, epoch=0, is_awaited=True)
        run = partial(run_with, rehearsal, faults=SurroundingFaults(limit=limit), injection=injection)
        trial = run(f"stalled-pipe-{epoch.channel}")
        what = f"the stream of `{epoch.channel}` pauses for {duration(seconds)}"
        if not any("stall" in flow.injected for flow in trial.summary.flows):
            continue
        if hangs(trial):
            return hanging(rehearsal, trial, what, _ADVICE_STALLED_PIPE)
        if not trial.completed:
            return broken(trial, f"{what}, and the job fails: {failure_of(trial)}", advice=_ADVICE_STALLED_PIPE)
        left = [flow for flow in first_epochs(trial) if (flow.host, flow.channel) == (epoch.host, epoch.channel)]
        if left and left[0].is_early and not epoch.is_early:
            return broken(
                trial,
                f"{what}, and the job takes that for its end, after {left[0].size:,} of {epoch.size:,} bytes",
                advice=_ADVICE_STALLED_PIPE,
            )
        found = likeness(rehearsal, trial, run)
        changed = found.differences
        if changed:
            how = f"{what}, and the job completes differently: {changed[0]}"
            return broken(trial, how, *changed[1:], advice=_ADVICE_STALLED_PIPE)
        if not found.is_known:
            return not_rehearsed(f"{what}: the job waits, and completes, but {found.doubt}")
        seen.append(f"{what}: the job waits, and completes{found.as_undisturbed}")
    if not seen:
        return not_rehearsed("the fault did not strike: the job never waited for the second half of an epoch")
    return kept(*seen)


def rehearse_truncated_pipe(rehearsal: Rehearsal) -> PromiseOutcome:
    """A Pipe stream that ends inside a record."""
    limit = time_limit(rehearsal)
    seen: list[str] = []
    doubts: list[str] = []
    has_format = False
    for epoch in first_epochs(rehearsal.undisturbed()[0]):
        cut = cut_of(rehearsal, epoch)
        if cut is None:
            continue
        has_format = True
        injection = Injection(truncate=cut.size, host=epoch.host, channel=epoch.channel, epoch=0, is_awaited=True)
        run = partial(run_with, rehearsal, faults=SurroundingFaults(limit=limit), injection=injection)
        trial = run(f"truncated-pipe-{epoch.channel}")
        if not any("truncate" in flow.injected for flow in trial.summary.flows):
            continue
        what = f"the stream of `{epoch.channel}` ends inside {cut.form}, after {cut.size:,} of {epoch.size:,} bytes"
        if hangs(trial):
            return hanging(rehearsal, trial, what, _ADVICE_TRUNCATED_PIPE)
        if not trial.completed:
            seen.append(f"{what}; the job fails: {failure_of(trial)}")
            continue
        found = likeness(rehearsal, trial, run)
        changed = found.differences
        is_needed = not found.is_whole and not epoch.is_early and epoch.size - cut.size > _LARGEST_BUFFER
        if changed or is_needed:
            return broken(
                trial, f"{what}, and the job completes as if it were whole", *changed, advice=_ADVICE_TRUNCATED_PIPE
            )
        if not found.is_whole:
            doubts.append(f"{what}, and the job completes; whether it needs the rest is unknown: {found.doubt}")
    if seen:
        return kept(*seen)
    if doubts:
        return not_rehearsed(*doubts)
    if not has_format:
        return not_rehearsed(f"only in some formats can a reader notice an incomplete record: {_FORMATS}")
    return not_rehearsed("the fault did not strike: the job needed no byte after the cut")


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
