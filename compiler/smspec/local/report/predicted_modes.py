"""The rows of the prediction for the page: a bar for the time of each input mode, drawn from least to most."""

from __future__ import annotations

from dataclasses import dataclass

from smspec.diagnostics.quoting import visible
from smspec.local.prediction.mode_prediction import ModePrediction
from smspec.local.prediction.prediction import Prediction, row
from smspec.local.prediction.s3_service import Interval


@dataclass(frozen=True, slots=True)
class Bar:
    """Percentages of the longest time of all modes: up to ``least`` certain, from there to ``most`` possible."""

    least: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedMode:
    """``cells`` are those of the terminal; ``bar`` shows the whole job or, if it is unknown, the wait for data."""

    name: str
    cells: tuple[str, ...]
    note: str
    obstacle: str
    is_of_spec: bool
    is_bad: bool
    bar: Bar | None


def predicted_modes(prediction: Prediction) -> list[PredictedMode]:
    """Return one per input mode."""
    shown = [_shown(mode) for mode in prediction.modes]
    longest = max((time.most for time in shown if time is not None), default=0.0) or 1.0
    return [
        _of(prediction, mode, None if time is None else Bar(100 * time.least / longest, 100 * time.most / longest))
        for mode, time in zip(prediction.modes, shown, strict=True)
    ]


def _shown(mode: ModePrediction) -> Interval | None:
    return mode.total or mode.wait


def _of(prediction: Prediction, mode: ModePrediction, bar: Bar | None) -> PredictedMode:
    name, *cells, note = map(visible, row(prediction, mode))
    return PredictedMode(
        name=name,
        cells=tuple(cells),
        note="" if mode.obstacle else note,
        obstacle=visible(mode.obstacle),
        is_of_spec=mode.is_of_spec,
        is_bad=mode.is_disk_full or prediction.exceeds_runtime(mode) == "yes",
        bar=bar,
    )
