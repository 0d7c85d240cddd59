"""Rehearse a job: undisturbed first, then every promise; the result is a `Report`, and a directory with every run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from smspec.local.python.cache import EnvironmentCache
from smspec.local.request import Console, FaultRefused
from smspec.local.run_directory import REHEARSAL, RunDirectory, claim
from smspec.local.signals import Signals
from smspec.rehearsal.promise import Outcome, Promise, not_rehearsed
from smspec.rehearsal.rehearsal import Rehearsal, Rehearsed, UndisturbedFailed
from smspec.rehearsal.report import Report, Row
from smspec.rehearsal.trial import Trial
from smspec.source.frozen import replace


def rehearse_job(rehearsed: Rehearsed, promises: Sequence[Promise], console: Console) -> Report:
    """Rehearse the promises in order. No process is left running, however it ends.

    Raise JobRefused if the spec is at fault, RunFailed if this machine is, RunInterrupted for Ctrl-C; nothing is left
    of the directory then.
    """
    started = time.monotonic()
    with Signals() as signals, EnvironmentCache() as cache, ExitStack() as undo:
        directory = claim(rehearsed.request.directory, rehearsed.plan.name)
        undo.callback(directory.release)
        undo.callback(_discard, directory, signals)
        rehearsal = Rehearsal(rehearsed, console, directory.root, signals, cache)
        rows, failed = _rows(rehearsal, promises)
        report = Report(
            job=rehearsed.plan.name,
            seed=rehearsed.seed,
            directory=directory.root,
            rows=tuple(rows),
            failure="" if failed is None else failed.summary.failure_reason or failed.summary.status,
            failure_log="" if failed is None else failed.last_log,
            runs=rehearsal.run_count,
            seconds=time.monotonic() - started,
        )
        with open(directory.vacant(REHEARSAL), "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(report.to_json())
        directory.mark(rehearsed.plan.name, "Completed")
        undo.pop_all()
        directory.release()
        return report


def _discard(directory: RunDirectory, signals: Signals) -> None:
    """Leave no half of a result, even after repeated interrupts; why there is none matters more than a full disk."""
    signals.note()
    with suppress(OSError):
        directory.discard()


def _rows(rehearsal: Rehearsal, promises: Sequence[Promise]) -> tuple[list[Row], Trial | None]:
    """Return a row for each promise, and the undisturbed run that failed, if one did."""
    applicable = [(promise, promise.reason_against(rehearsal)) for promise in promises]
    failed: Trial | None = None
    rows = []
    try:
        # Even where no promise applies: a job that fails anyway keeps none.
        rehearsal.undisturbed()
    except UndisturbedFailed as failure:
        failed = failure.trial
    for promise, reason in applicable:
        outcome = _outcome(rehearsal, promise, reason if failed is None else "the job fails undisturbed")
        if isinstance(outcome, Trial):
            failed, outcome = outcome, not_rehearsed("the job fails undisturbed")
        rows.append(Row(name=promise.name, statement=promise.statement, outcome=outcome))
    return rows, failed


def _outcome(rehearsal: Rehearsal, promise: Promise, reason: str | None) -> Outcome | Trial:
    if reason is not None:
        return not_rehearsed(reason)
    started = time.monotonic()
    rehearsal.show(f"{promise.name}: {promise.statement}")
    try:
        outcome = promise.rehearse(rehearsal)
    except FaultRefused as refused:
        outcome = not_rehearsed(str(refused))
    except UndisturbedFailed as failure:
        return failure.trial
    return replace(outcome, seconds=time.monotonic() - started)
