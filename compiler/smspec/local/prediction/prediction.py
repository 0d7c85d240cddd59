"""The prediction of a run: each input mode, and what it depends on; for people, a row per input mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from smspec.diagnostics.visible import visible
from smspec.local.prediction.job_data import MODES, JobData
from smspec.local.prediction.mode_prediction import ModePrediction, predicted_mode
from smspec.local.prediction.reading import Reading
from smspec.local.prediction.s3_service import DOCUMENTED, Interval, S3Service
from smspec.local.record.units import lines_of, size

HEAD = ("input mode", "first data after", "data on disk", "MB/s of a host", "one pass", "whole job")
_UNITS = ((1.0, "s"), (60.0, "min"), (3600.0, "h"), (86400.0, "d"))


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitPrice:
    """``per_hour``: the price of all instances of the job, in ``currency``. ``as_of``: its date, if AWS listed it."""

    per_hour: float
    currency: str
    as_of: str

    def of(self, seconds: Interval) -> Interval:
        return seconds.scaled(self.per_hour / 3600)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """``modes`` is empty if nothing is predicted; ``unknown``: what is not, and why, as sentences.

    ``is_expected``: the size of a channel is known, so its author expects a prediction. ``instances``: type → number.
    ``data``: bytes in S3. ``max_runtime``: seconds after which SageMaker stops the job.
    """

    is_expected: bool = False
    instances: Mapping[str, int] = field(default_factory=dict)
    data: int | None = None
    objects: int | None = None
    modes: tuple[ModePrediction, ...] = ()
    reading: Reading | None = None
    max_runtime: int | None = None
    price: WaitPrice | None = None
    assumptions: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the member ``prediction`` of summary.json."""
        return {
            "instances": dict(self.instances),
            "data_bytes": self.data,
            "objects": self.objects,
            "script_bytes_per_second": _bounds(script_rate(self.reading)) if self.reading else None,
            "measured": [asdict(scenario) for scenario in self.reading.scenarios] if self.reading else [],
            "max_runtime_seconds": self.max_runtime,
            "modes": [self._mode(mode) for mode in self.modes],
            "price_per_hour": asdict(self.price) if self.price else None,
            "assumptions": list(self.assumptions),
            "unknown": list(self.unknown),
        }

    def cost_of_wait(self, mode: ModePrediction) -> Interval | None:
        """Return what the instances cost while they wait for their first data."""
        return self.price.of(mode.wait) if self.price is not None and mode.wait is not None else None

    def exceeds_runtime(self, mode: ModePrediction) -> str:
        """Return ``no``, ``possibly``, or ``yes``; empty if that is unknown."""
        if mode.total is None or self.max_runtime is None:
            return ""
        if mode.total.least > self.max_runtime:
            return "yes"
        return "possibly" if mode.total.most > self.max_runtime else "no"

    def _mode(self, mode: ModePrediction) -> dict[str, Any]:
        return {
            "mode": mode.mode or None,
            "is_of_spec": mode.is_of_spec,
            "obstacle": mode.obstacle or None,
            "caution": mode.caution or None,
            "wait_seconds": _bounds(mode.wait),
            "wait_cost": _bounds(self.cost_of_wait(mode)),
            "downloaded_bytes": mode.downloaded,
            "disk_bytes": mode.disk,
            "disk_capacity_bytes": mode.capacity,
            "source_bytes_per_second": _bounds(mode.source),
            "bytes_per_second": _bounds(mode.rate),
            "pass_seconds": _bounds(mode.one_pass),
            "total_seconds": _bounds(mode.total),
            "exceeds_max_runtime": self.exceeds_runtime(mode) or None,
        }


def predicted_modes(data: JobData, reading: Reading | None, s3: S3Service = DOCUMENTED) -> tuple[ModePrediction, ...]:
    """Return each input mode for all channels, and first the modes of the spec if they differ among the channels."""
    own: Mapping[str, str] = {channel.name: channel.channel.mode for channel in data.channels}
    found = []
    if len({*own.values()}) > 1:
        found.append(predicted_mode("", own, data, reading, s3, is_of_spec=True))
    for mode in MODES:
        modes = dict.fromkeys(own, mode)
        found.append(predicted_mode(mode, modes, data, reading, s3, is_of_spec=modes == own))
    return tuple(found)


def script_rate(reading: Reading) -> Interval:
    """Return the bytes per second that the script consumed when it did not wait; the upper bound may be infinite."""
    per_byte = [scenario.per_byte for scenario in reading.scenarios]
    return Interval(1 / max(per_byte), 1 / min(per_byte) if min(per_byte) else float("inf"))


def _bounds(interval: Interval | None) -> list[float | None] | None:
    """Return [at least, at most]; an unknown upper bound is null, because JSON has no infinity."""
    if interval is None:
        return None
    return [_rounded(interval.least), _rounded(interval.most)]


def _rounded(value: float) -> float | None:
    return None if value == float("inf") else float(f"{value:.6g}")


def heading(prediction: Prediction) -> str:
    """Return ``4 × ml.g5.xlarge with 120 GB in 1,200 objects``."""
    count = prediction.objects
    counted = "" if count is None else f" in {count:,} {'object' if count == 1 else 'objects'}"
    instances = ", ".join(f"{number} × {kind}" for kind, number in prediction.instances.items())
    return f"{instances} with {size(prediction.data or 0)}{counted}"


def rows(prediction: Prediction) -> list[tuple[str, ...]]:
    """Return the cells below `HEAD`; the last one is a note."""
    return [row(prediction, mode) for mode in prediction.modes]


def money(amount: Interval, currency: str) -> str:
    """Return ``$1.20 to $3.40``."""
    sign = "$" if currency == "USD" else f"{currency} "
    low, high = f"{sign}{amount.least:,.2f}", f"{sign}{amount.most:,.2f}"
    return low if low == high else f"{low} to {high}"


def times(seconds: Interval) -> str:
    """Return ``12 to 40 s``, or ``50 s to 3 min``."""
    (low, unit), (high, longer) = _time(seconds.least), _time(seconds.most)
    if low == "0.0":
        return "0 s" if high == "0.0" else f"at most {high} {longer}"
    if unit == longer:
        return f"{high} {longer}" if low == high else f"{low} to {high} {longer}"
    return f"{low} {unit} to {high} {longer}"


def rates(rate: Interval) -> str:
    """Return ``80 to 310``: MB per second."""
    low, high = figure(rate.least / 1e6), figure(rate.most / 1e6)
    if rate.most == float("inf"):
        return f"{low} or more"
    return high if low == high else f"{low} to {high}"


def figure(value: float) -> str:
    """Return two or three digits: ``0.012``, ``4.1``, ``81``, ``1,250``."""
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.2g}"


def row(prediction: Prediction, mode: ModePrediction) -> tuple[str, ...]:
    """Return the cells of one input mode."""
    name = mode.mode or "as in the spec"
    if mode.obstacle:
        return (name, *[""] * 5, f"not possible: {mode.obstacle}")
    return (
        name,
        times(mode.wait) if mode.wait else "-",
        _disk(mode),
        rates(mode.rate) if mode.rate else "-",
        times(mode.one_pass) if mode.one_pass else "-",
        times(mode.total) if mode.total else "-",
        ", ".join(_notes(prediction, mode)),
    )


def _notes(prediction: Prediction, mode: ModePrediction) -> list[str]:
    notes = ["the mode of the spec"] if mode.is_of_spec and mode.mode else []
    if mode.caution:
        notes.append(mode.caution)
    if mode.is_disk_full:
        notes.append("does not fit on the disk")
    exceeds = prediction.exceeds_runtime(mode)
    if exceeds in ("yes", "possibly"):
        notes.append(f"{'possibly ' if exceeds == 'possibly' else ''}longer than `stopping.max_runtime`")
    cost = prediction.cost_of_wait(mode)
    if cost is not None and prediction.price is not None and cost.most >= 0.01:
        notes.append(f"the wait costs {money(cost, prediction.price.currency)}")
    return notes


def _disk(mode: ModePrediction) -> str:
    if not mode.disk:
        return "none"
    return size(mode.disk) if mode.capacity is None else f"{size(mode.disk)} of {size(mode.capacity)}"


def _time(seconds: float) -> tuple[str, str]:
    length, unit = next(((each, name) for each, name in reversed(_UNITS) if seconds >= 2 * each), _UNITS[0])
    count = seconds / length
    return (f"{count:.0f}" if count >= 9.95 else f"{count:.1f}"), unit


def prediction_lines(prediction: Prediction, *, verbose: bool) -> list[str]:
    """Return the table of a prediction, and what is unknown; ``verbose``: also the assumptions."""
    if not prediction.is_expected and not verbose:
        return []
    if not prediction.modes:
        return [f"no prediction: {visible(text)}" for text in prediction.unknown]
    from rich.table import Column, Table
    from rich.text import Text

    table = Table(*(Column(name, no_wrap=True) for name in (*HEAD, "")), box=None, padding=(0, 2, 0, 0), pad_edge=False)
    obstacles = []
    for row in rows(prediction):
        if row[1]:
            table.add_row(*map(Text, row))
        else:
            obstacles.append(f"{row[0]}: {visible(row[-1])}")
    found = [f"prediction for {visible(heading(prediction))}", *lines_of(table), *obstacles]
    found += [visible(text) for text in prediction.unknown]
    if verbose:
        found += [f"assumed: {visible(text)}" for text in prediction.assumptions]
    else:
        found.append(f"{len(prediction.assumptions)} assumptions: pass -v, or see report.html")
    return found
