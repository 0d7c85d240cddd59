"""Promises about what a job reads: Pipe streams that pause, or end inside a record, and the S3 endpoint.

The faults of a stream are in the first epoch of each channel. The endpoint is a proxy that is slow, refuses requests,
or fails.
"""

from __future__ import annotations

import os
from functools import partial
from urllib.parse import urlsplit

from smspec.local.channels.channel_data import find_data
from smspec.local.engines.choice import unsupported_faults
from smspec.local.feeder.objects import ChannelDataError
from smspec.local.feeder.plan import Injection
from smspec.local.record.flows import Flow
from smspec.local.record.units import duration
from smspec.local.running.request import SurroundingFaults
from smspec.rehearsal.disturbances import broken, failure_of, hanging, hangs, likeness, run_with, time_limit
from smspec.rehearsal.faulty_endpoint import FaultCourse, FaultyEndpoint, Struck
from smspec.rehearsal.record_cut import RecordCut, read_stream_start, record_cut
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.report import PromiseOutcome, kept, not_rehearsed
from smspec.rehearsal.trial import Trial
from smspec.source.frozen import replace
from smspec.source.real_file import remove_tree
from smspec.spec.model import PipeLoopEntry

_STALL_SECONDS = 10.0
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

_ADVICE_SLOW_S3 = (
    "repeat requests that fail with 500, 503, or a closed connection: boto3 and the AWS CLI do (`AWS_MAX_ATTEMPTS`, "
    "`AWS_RETRY_MODE=standard`), `urllib` and `requests` do not"
)

_DELAY_SECONDS = 30.0
"""What the faults of an endpoint, and the attempts after them, may take."""

_ADVICE_FAILING_S3 = "limit how often a request is repeated, as boto3 does, and let the last error end the script"
NO_REQUEST = "the fault did not strike: the job sends no request to the endpoint in its environment"

_ENDPOINT_NAMES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
"""The SDKs prefer the first one."""


def rehearse_stalled_pipe(rehearsal: Rehearsal) -> PromiseOutcome:
    """A Pipe stream that falls silent in its middle, and goes on later."""
    undisturbed = rehearsal.undisturbed()[0]
    seconds = min(_STALL_SECONDS, rehearsal.patience)
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


def rehearse_slow_s3(rehearsal: Rehearsal) -> PromiseOutcome:
    """An S3 endpoint that is slow, refuses some requests, and closes some connections."""
    faults = SurroundingFaults(limit=time_limit(rehearsal) + _DELAY_SECONDS)
    run = partial(run_behind, rehearsal, faults=faults, course=FaultCourse(is_down=False))
    trial, struck = run("slow-s3")
    if not struck.faults:
        return not_rehearsed(NO_REQUEST)
    what = f"S3 is slow and fails at times ({struck})"
    if hangs(trial):
        return hanging(rehearsal, trial, what, _ADVICE_SLOW_S3)
    if not trial.completed:
        return broken(trial, f"{what}, and the job fails: {failure_of(trial)}", advice=_ADVICE_SLOW_S3)
    found = likeness(rehearsal, trial, lambda name: run(name)[0])
    changed = found.differences
    if changed:
        return broken(
            trial, f"{what}, and the job completes differently: {changed[0]}", *changed[1:], advice=_ADVICE_SLOW_S3
        )
    if not found.is_known:
        return not_rehearsed(f"{what}: the job completes, but {found.doubt}")
    return kept(f"{what}: the job completes{found.as_undisturbed}")


def rehearse_failing_s3(rehearsal: Rehearsal) -> PromiseOutcome:
    """An S3 endpoint that refuses every request."""
    faults = SurroundingFaults(limit=time_limit(rehearsal))
    run = partial(run_behind, rehearsal, faults=faults, course=FaultCourse(is_down=True))
    trial, struck = run("failing-s3")
    if not struck.faults:
        return not_rehearsed(NO_REQUEST)
    what = f"S3 refuses every request ({struck})"
    if hangs(trial):
        return hanging(rehearsal, trial, what, _ADVICE_FAILING_S3)
    if not trial.completed:
        return kept(f"{what}; the job fails after {duration(trial.seconds)}: {failure_of(trial)}")
    found = likeness(rehearsal, trial, lambda name: run(name)[0])
    lost = found.differences
    if lost:
        return broken(trial, f"{what}, and the job completes: {lost[0]}", *lost[1:], advice=_ADVICE_FAILING_S3)
    if struck.writes:
        return not_rehearsed(
            f"{what}, and the job completes with the same model; whether it needs its uploads is unknown"
        )
    if not found.is_whole:
        return not_rehearsed(f"{what}, and the job completes; whether it needs S3 is unknown: {found.doubt}")
    return kept(f"{what}: the job completes with the same model, so it needs nothing from there")


def no_endpoint_reason(rehearsal: Rehearsal) -> str | None:
    """Return why no fault of S3 can be injected."""
    endpoint = _endpoint(rehearsal)
    if endpoint is None:
        return "AWS_ENDPOINT_URL is not set: set it to the URL of an S3 server for tests, such as moto or MinIO"
    if urlsplit(endpoint[1]).scheme != "http":
        return f"`{endpoint[0]}` is not an http URL: smspec cannot be between a job and a server with TLS"
    if rehearsal.training.payload.get("EnableNetworkIsolation"):
        return "`network.isolation`: the job does not reach S3"
    return unsupported_faults(SurroundingFaults(variables={endpoint[0]: ""}), rehearsal.engine)


def run_behind(
    rehearsal: Rehearsal, name: str, *, faults: SurroundingFaults, course: FaultCourse
) -> tuple[Trial, Struck]:
    """Run the job with an endpoint that behaves like ``course``; return what its requests met."""
    endpoint = _endpoint(rehearsal)
    assert endpoint is not None
    proxy = FaultyEndpoint(endpoint[1], course)
    try:
        behind = replace(faults, variables={endpoint[0]: proxy.url})
        return run_with(rehearsal, name, faults=behind, reaches_loopback=True), proxy.struck
    finally:
        proxy.close()


def _endpoint(rehearsal: Rehearsal) -> tuple[str, str] | None:
    """Return the variable with the endpoint, and its value; the spec's `environment` comes first."""
    variables = {**os.environ, **rehearsal.training.environment}
    return next(((name, variables[name]) for name in _ENDPOINT_NAMES if variables.get(name)), None)
