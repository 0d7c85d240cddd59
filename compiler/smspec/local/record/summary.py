"""The record of a run, and its summary: how it ended, and the paths of its output.

Measurements of Pipe channels are read from the log, which programs that watch a job read too. A pipe of their own would
need code in the runtime, which has no room for it. What went through a channel over time is kept in bounded memory.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from smspec.diagnostics.quoting import visible
from smspec.local.prediction.prediction import Prediction, prediction_lines
from smspec.local.record.artifacts import Collected
from smspec.local.record.flows import METRICS, Balance, Flow, Flows, InjectedFault, Measured, measured, table
from smspec.local.record.units import duration, size
from smspec.local.running.events import (
    ChannelLaid,
    EpochEnded,
    EpochFed,
    Event,
    FaultInjected,
    HostEnded,
    LogLines,
    Remark,
)
from smspec.local.running.request import GitCommit, JobStatus
from smspec.local.watch.host_log import LogTail
from smspec.local.watch.metric_counts import MetricCount, MetricValues
from smspec.source.frozen import asdict, dataclass, field, replace

_MOST = 2048
_FIRST_INTERVAL = 0.05
_MOST_WARNINGS = 100
_MOST_SAMPLES = 200
_MOST_HOSTS = 8


class Series:
    """Samples of (seconds since the start, bytes so far), thinned out evenly as a run grows longer."""

    def __init__(self) -> None:
        self._samples: list[tuple[float, int]] = []
        self._interval = _FIRST_INTERVAL
        self._last: tuple[float, int] | None = None

    def add(self, moment: float, count: int) -> None:
        """Add that ``count`` bytes have passed in all; times are in order."""
        before, self._last = self._last, (moment, count)
        if self._samples and moment - self._samples[-1][0] < self._interval:
            return
        if before is not None and before != self._samples[-1]:
            self._samples.append(before)  # the start of a pause
        self._samples.append(self._last)
        if len(self._samples) > _MOST:
            self._samples = self._samples[::2]
            self._interval *= 2

    @property
    def samples(self) -> tuple[tuple[float, int], ...]:
        """Return the kept samples, always with the last one."""
        kept = tuple(self._samples)
        return kept if self._last is None or kept[-1] == self._last else (*kept, self._last)


class ThroughputRecord:
    """Bytes so far over all epochs, by host and channel, in bounded memory for each."""

    def __init__(self) -> None:
        self._series: dict[tuple[str, str], Series] = {}
        self._epochs: dict[tuple[str, str], dict[int | None, int]] = {}
        self._totals: dict[tuple[str, str], int] = {}

    def add(self, host: str, channel: str, epoch: int | None, size: int, since: float) -> None:
        """Add that an epoch has reached ``size`` bytes, ``since`` seconds after the start of the run."""
        sizes = self._epochs.setdefault((host, channel), {})
        # Not added up again: a run may have many thousands of epochs.
        total = self._totals.get((host, channel), 0) + size - sizes.get(epoch, 0)
        self._totals[host, channel] = total
        sizes[epoch] = size
        self._series.setdefault((host, channel), Series()).add(max(0.0, since), total)

    @property
    def samples(self) -> dict[tuple[str, str], tuple[tuple[float, int], ...]]:
        """Return (host, channel) → samples of (seconds since the start, bytes so far)."""
        return {key: series.samples for key, series in self._series.items()}


class RunRecord:
    """Listens to a run and stores its events: the source of its summary, its report, and its exit status.

    ``hide`` masks secrets in a text.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, hide: Callable[[str], str] = str) -> None:
        self._clock = clock
        self.hide = hide
        self._start = clock()
        self._flows = Flows()
        self._throughput = ThroughputRecord()
        self._balances: dict[tuple[str, int], Balance] = {}
        self.hosts: dict[str, HostEnded] = {}
        self.injected: list[FaultInjected] = []
        self.logs: dict[str, LogTail] = {}
        self.warnings: list[str] = []

    def begin(self) -> float:
        """Start the time of the run now; return it."""
        self._start = self._clock()
        return self._start

    def tick(self) -> None:
        """Do nothing: a record draws nothing."""

    def report(self, event: Event) -> None:
        """Record an event."""
        if isinstance(event, HostEnded):
            self.hosts[event.host] = event
        elif isinstance(event, FaultInjected):
            self.injected.append(event)
        elif isinstance(event, LogLines):
            self._logged(event)
        elif isinstance(event, Remark):
            if event.warning and len(self.warnings) < _MOST_WARNINGS:
                self.warnings.append(self.hide(event.text))
        elif isinstance(event, ChannelLaid):
            self._flows.add(event)
            self._throughput.add(event.host, event.channel, None, event.size, self._clock() - self._start)
        elif isinstance(event, EpochFed | EpochEnded):
            self._flows.add(event)
            self._throughput.add(event.host, event.channel, event.epoch, event.size, event.moment - self._start)

    @property
    def flows(self) -> tuple[Flow, ...]:
        """Return the flows by host, channel, and epoch."""
        return self._flows.in_order(self.injected)

    @property
    def series(self) -> dict[tuple[str, str], tuple[tuple[float, int], ...]]:
        """Return (host, channel) → samples of (seconds since the start, bytes so far over all epochs)."""
        return self._throughput.samples

    @property
    def balances(self) -> tuple[Balance, ...]:
        """Return one per host and epoch."""
        return tuple(self._balances[key] for key in sorted(self._balances, key=lambda key: (len(key[0]), *key)))

    def _logged(self, event: LogLines) -> None:
        for text in event.text.divided(METRICS):
            if not text.starts_with(METRICS):
                self.logs.setdefault(event.host, LogTail(self.hide)).add(text)
                continue
            found = measured(text.lines[0])
            if found is not None:
                self._flows.read(event.host, found)
                self._balances[event.host, found.epoch] = _balance(event.host, found)  # the same for each channel


def _balance(host: str, found: Measured) -> Balance:
    return Balance(host=host, first=found.epoch, last=found.epoch, waiting=found.waiting, computing=found.computing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """The data through one channel of one host: ``bytes`` in all, ``seconds`` after the start of the run."""

    host: str
    channel: str
    seconds: tuple[float, ...]
    bytes: tuple[int, ...]


def throughput(samples: Mapping[tuple[str, str], Sequence[tuple[float, int]]]) -> tuple[Throughput, ...]:
    """Return the series of samples, (seconds, bytes), thinned out for a summary."""
    series = []
    for (host, channel), points in sorted(samples.items(), key=lambda item: (len(item[0][0]), item[0])):
        step = max(1, -(-len(points) // _MOST_SAMPLES))
        kept = [*points[:-1:step], *points[-1:]]
        seconds = tuple(round(second, 3) for second, _ in kept)
        series.append(Throughput(host=host, channel=channel, seconds=seconds, bytes=tuple(size for _, size in kept)))
    return tuple(series)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The facts about a finished run. ``job_status`` None: it was stopped before a host had ended.

    ``why``: why it ran on this engine, if `auto` prefers another one; ``differences`` are those from SageMaker.
    ``started``: in UTC. ``versions``: name → version, None if only the image knows it. ``hyperparameters``,
    ``warnings``, and ``request``, that of the job in SageMaker, have their secrets masked. ``commit``: of git; None
    outside of it.
    """

    job: str
    status: JobStatus
    job_status: int | None
    failed: str | None
    failure_reason: str
    seconds: float
    hosts: tuple[HostEnded, ...]
    flows: tuple[Flow, ...]
    model: Collected | None
    output: Collected | None
    logs: str
    report: str
    started: str = ""
    versions: Mapping[str, str | None] = field(default_factory=dict)
    hyperparameters: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    engine: str = ""
    why: str = ""
    differences: tuple[str, ...] = ()
    rehearsed: tuple[InjectedFault, ...] = ()
    metrics: tuple[MetricCount, ...] = ()
    throughput: tuple[Throughput, ...] = ()
    prediction: Prediction | None = None
    request: Mapping[str, object] = field(default_factory=dict)
    commit: GitCommit | None = None

    def to_json(self) -> str:
        """Return the text of summary.json."""
        document = {
            "job": self.job,
            "status": self.status,
            "exit_status": self.job_status,
            "failed_host": self.failed,
            "failure_reason": self.failure_reason or None,
            "started": self.started or None,
            "git_commit": self.commit and self.commit.name,
            "git_dirty": self.commit and self.commit.is_dirty,
            "versions": dict(self.versions),
            "hyperparameters": dict(self.hyperparameters),
            "warnings": list(self.warnings),
            "engine": self.engine,
            "why": self.why or None,
            "differences": list(self.differences),
            "seconds": round(self.seconds, 3),
            "hosts": [asdict(host) for host in self.hosts],
            "channels": [asdict(flow) for flow in self.flows],
            "injected": [asdict(fault) for fault in self.rehearsed],
            "metrics": [_without_values(metric) for metric in self.metrics],
            "model": asdict(self.model) if self.model else None,
            "output": asdict(self.output) if self.output else None,
            "prediction": self.prediction.to_dict() if self.prediction else None,
            "request": dict(self.request),
        }
        # One line each: people read what is above, programs plot these.
        values = _lines(one for metric in self.metrics for one in metric.values)
        series = f'"metric_values": {values},\n  "throughput": {_lines(self.throughput)}'
        return f"{json.dumps(document, indent=2)[:-2]},\n  {series}\n}}\n"

    def text(self, *, verbose: bool = False) -> str:
        """Return the summary for people. ``verbose``: with what the prediction assumes."""
        blocks = [table(self.flows)] if self.flows else []
        predicted = prediction_lines(self.prediction, verbose=verbose) if self.prediction is not None else []
        if predicted:
            blocks.append("".join(f"{line}\n" for line in predicted))
        lines = [("job", f"{self.job}: {self._how()} after {duration(self.seconds)}")]
        lines += [("injected", str(fault)) for fault in self.rehearsed]
        if self.failure_reason:
            first, *rest = map(visible, self.failure_reason.splitlines())
            lines += [("failure", first), *(("", line) for line in rest)]
        lines += [("metric", visible(str(metric))) for metric in self.metrics]
        lines += [("usage", text) for text in self._usages()]
        lines += [*self.places(), ("report", self.report)]
        blocks.append("".join(f"{name:9}{text}".rstrip() + "\n" for name, text in lines))
        return "\n".join(blocks)

    def _usages(self) -> list[str]:
        """Return what each host used, in words; of many hosts the largest."""
        measured = [host for host in self.hosts if host.cpu_seconds is not None and host.peak_memory is not None]
        if not measured:
            return [f"not measured by the engine `{self.engine}`"] if self.engine and self.hosts else []
        shown = sorted(measured, key=lambda host: -(host.peak_memory or 0))[:_MOST_HOSTS]
        left_out = len(measured) - len(shown)
        lines = [usage_of(host) for host in measured if host in shown]
        return [*lines, f"less memory on {left_out} more hosts"] if left_out else lines

    def places(self) -> list[tuple[str, str]]:
        """Return (name, path) of each output."""
        return [("model", _where(self.model)), ("output", _where(self.output)), ("logs", self.logs)]

    def _how(self) -> str:
        who = f" of {self.failed}" if self.failed and len(self.hosts) > 1 else ""
        if self.job_status is None:
            return self.status
        return f"{self.status}, exit status {self.job_status}{who}"


def usage_of(host: HostEnded) -> str:
    """Return ``algo-1: 1.20 s of CPU time, 52 MB in the largest process``."""
    memory = f"{size(host.peak_memory or 0)} in the largest process"
    together = "" if host.total_memory is None else f", {size(host.total_memory)} in all together"
    return f"{host.host}: {duration(host.cpu_seconds or 0)} of CPU time, {memory}{together}"


def _without_values(metric: MetricCount) -> dict[str, object]:
    document = asdict(replace(metric, values=()))
    del document["values"]
    return document


def _lines(series: Iterable[MetricValues | Throughput]) -> str:
    """Return a list in JSON, one line for each."""
    return "[\n" + ",\n".join(f"    {json.dumps(asdict(one))}" for one in series) + "\n  ]"


def _where(collected: Collected | None) -> str:
    if collected is None:
        return "(none)"
    files = "1 file" if collected.files == 1 else f"{collected.files} files"
    return f"{collected.path} ({files}, {size(collected.size)})"
