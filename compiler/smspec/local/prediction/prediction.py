"""The prediction of a run: each input mode, and what it depends on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from smspec.local.prediction.job_data import MODES, JobData
from smspec.local.prediction.mode_prediction import ModePrediction, predicted_mode
from smspec.local.prediction.reading import Reading
from smspec.local.prediction.s3_service import DOCUMENTED, Interval, S3Service


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
