"""The prediction for people: a row per input mode, and what is not predicted; also as a table in a terminal."""

from __future__ import annotations

from smspec.diagnostics.visible import visible
from smspec.local.prediction.mode_prediction import ModePrediction
from smspec.local.prediction.prediction import Prediction
from smspec.local.prediction.s3_service import Interval
from smspec.local.tables import lines_of
from smspec.local.units import size

HEAD = ("input mode", "first data after", "data on disk", "MB/s of a host", "one pass", "whole job")
_UNITS = ((1.0, "s"), (60.0, "min"), (3600.0, "h"), (86400.0, "d"))


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
