"""The values of the metrics of a run, and where those of a restarted one leave the others."""

from __future__ import annotations

import re
from collections.abc import Sequence

from smspec.rehearsal.run_detail import is_run_detail
from smspec.rehearsal.trial import Trial


def last_values(trial: Trial) -> dict[tuple[str, str], float | None]:
    """Return (metric, host) → the last value in the log."""
    return {
        (values.metric, values.host): values.values[-1]
        for metric in trial.summary.metrics
        for values in metric.values
        if values.values
    }


def first_deviation(references: Sequence[Trial], last: Trial) -> str:
    """Return where the values of a metric after the restart leave those of undisturbed runs; empty if unknown."""
    series = [_series(reference) for reference in references]
    own = _series(last)
    for key, values in sorted(series[0].items(), key=lambda item: -len(item[1])):
        found = () if is_run_detail(key[0], {key[0]: None}) else own.get(key, ())
        if any(other.get(key) != values for other in series[1:]) or not 0 < len(found) <= len(values):
            continue
        start = len(values) - len(found)
        for index, (value, expected) in enumerate(zip(found, values[start:], strict=True)):
            if value != expected:
                return (
                    f"value {index + 1} of `{key[0]}` after the restart is {value}; "
                    f"value {start + index + 1} of {len(values)} in an undisturbed run is {expected}"
                )
    return ""


def _series(trial: Trial) -> dict[tuple[str, str], tuple[float | None, ...]]:
    """Return (metric, host) → all values, unless there are too many."""
    return {
        (values.metric, values.host): values.values
        for metric in trial.summary.metrics
        for values in metric.values
        if values.every == 1
    }


def is_of_summary(regex: str, trial: Trial, host: str) -> bool:
    """Return whether a metric ends with the `train_loss` of a Trainer of transformers: the mean over this start.

    It is in one line with `train_runtime`, and summed anew after a restart.
    """
    for line in reversed(trial.timeline.lines):
        match = re.search(regex, line.text) if line.host == host and "loss" in line.text else None
        if match is not None:
            before = line.text[: match.start(1) if match.re.groups else match.end()]
            return "train_runtime" in line.text and _TRAIN_LOSS.search(before) is not None
    return False


_TRAIN_LOSS = re.compile(r"train_loss\W*$")
