"""The prediction of a run: each input mode, and what it depends on; for people, a row per input mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smspec.diagnostics.quoting import visible
from smspec.local.prediction.job_data import MODES, JobData
from smspec.local.prediction.limits import DOCUMENTED, Interval, S3Service
from smspec.local.prediction.mode_prediction import ModePrediction, predicted_mode
from smspec.local.record.units import lines_of, size
from smspec.source.frozen import dataclass, field

HEAD = ("input mode", "first data after", "data on disk", "MB/s of a host", "one pass")
_UNITS = ((1.0, "s"), (60.0, "min"), (3600.0, "h"), (86400.0, "d"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """``modes`` is empty if nothing is predicted; ``unknown``: what is not, and why, as sentences.

    ``is_expected``: the size of a channel is known, so its author expects a prediction. ``instances``: type → number.
    ``data``: bytes in S3.
    """

    is_expected: bool = False
    instances: Mapping[str, int] = field(default_factory=dict)
    data: int | None = None
    objects: int | None = None
    modes: tuple[ModePrediction, ...] = ()
    assumptions: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the member ``prediction`` of summary.json."""
        return {
            "instances": dict(self.instances),
            "data_bytes": self.data,
            "objects": self.objects,
            "modes": [_mode(mode) for mode in self.modes],
            "assumptions": list(self.assumptions),
            "unknown": list(self.unknown),
        }


def predicted_modes(data: JobData, s3: S3Service = DOCUMENTED) -> tuple[ModePrediction, ...]:
    """Return each input mode for all channels, and first the modes of the spec if they differ among the channels."""
    own: Mapping[str, str] = {channel.name: channel.channel.mode for channel in data.channels}
    found = []
    if len({*own.values()}) > 1:
        found.append(predicted_mode("", own, data, s3, is_of_spec=True))
    for mode in MODES:
        modes = dict.fromkeys(own, mode)
        found.append(predicted_mode(mode, modes, data, s3, is_of_spec=modes == own))
    return tuple(found)


def _mode(mode: ModePrediction) -> dict[str, Any]:
    return {
        "mode": mode.mode or None,
        "is_of_spec": mode.is_of_spec,
        "obstacle": mode.obstacle or None,
        "caution": mode.caution or None,
        "wait_seconds": _bounds(mode.wait),
        "downloaded_bytes": mode.downloaded,
        "disk_bytes": mode.disk,
        "disk_capacity_bytes": mode.capacity,
        "bytes_per_second": _bounds(mode.rate),
        "pass_seconds": _bounds(mode.one_pass),
    }


def _bounds(interval: Interval | None) -> list[float | None] | None:
    """Return [at least, at most]; an unknown upper bound is null, because JSON has no infinity."""
    if interval is None:
        return None
    return [None if value == float("inf") else float(f"{value:.6g}") for value in (interval.least, interval.most)]


def heading(prediction: Prediction) -> str:
    """Return ``4 × ml.g5.xlarge with 120 GB in 1,200 objects``."""
    count = prediction.objects
    counted = "" if count is None else f" in {count:,} {'object' if count == 1 else 'objects'}"
    instances = ", ".join(f"{number} × {kind}" for kind, number in prediction.instances.items())
    return f"{instances} with {size(prediction.data or 0)}{counted}"


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


def row(mode: ModePrediction) -> tuple[str, ...]:
    """Return the cells of one input mode below `HEAD`, and a note."""
    name = mode.mode or "as in the spec"
    if mode.obstacle:
        return (name, *[""] * 4, f"not possible: {mode.obstacle}")
    return (
        name,
        times(mode.wait) if mode.wait else "-",
        _disk(mode),
        rates(mode.rate) if mode.rate else "-",
        times(mode.one_pass) if mode.one_pass else "-",
        ", ".join(_notes(mode)),
    )


def _notes(mode: ModePrediction) -> list[str]:
    notes = ["the mode of the spec"] if mode.is_of_spec and mode.mode else []
    if mode.caution:
        notes.append(mode.caution)
    if mode.is_disk_full:
        notes.append("does not fit on the disk")
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
    for cells in map(row, prediction.modes):
        if cells[1]:
            table.add_row(*map(Text, cells))
        else:
            obstacles.append(f"{cells[0]}: {visible(cells[-1])}")
    found = [f"prediction for {visible(heading(prediction))}", *lines_of(table), *obstacles]
    if verbose:
        found += [f"assumed: {visible(text)}" for text in prediction.assumptions]
    else:
        found.append(f"{len(prediction.assumptions)} assumptions: pass -v, or see report.html")
    return found
