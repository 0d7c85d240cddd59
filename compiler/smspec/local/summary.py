"""The summary of a finished run: how it ended, and the paths of its output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from smspec.diagnostics.quoting import visible
from smspec.local.artifacts import Collected
from smspec.local.events import HostEnded
from smspec.local.flows import Flow, table
from smspec.local.injected_faults import Rehearsed
from smspec.local.metric_counts import MetricCount, MetricValues
from smspec.local.prediction.prediction import Prediction, prediction_lines
from smspec.local.request import JobStatus
from smspec.local.units import duration, size

_MOST_SAMPLES = 200
_MOST_HOSTS = 8


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
    ``started``: in UTC. ``versions``: name → version, None if only the image knows it. ``hyperparameters`` and
    ``warnings`` have their secrets masked.
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
    rehearsed: tuple[Rehearsed, ...] = ()
    metrics: tuple[MetricCount, ...] = ()
    throughput: tuple[Throughput, ...] = ()
    prediction: Prediction | None = None

    def to_json(self) -> str:
        """Return the text of summary.json."""
        document = {
            "job": self.job,
            "status": self.status,
            "exit_status": self.job_status,
            "failed_host": self.failed,
            "failure_reason": self.failure_reason or None,
            "started": self.started or None,
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
