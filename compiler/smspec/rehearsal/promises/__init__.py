"""All promises, in the order of the report, and the rehearsal of a job for them.

The job runs undisturbed first; the result is a `Report`, and a directory with every run. A new promise is a row here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress

from smspec.local.python.environment import EnvironmentCache
from smspec.local.running.request import FaultRefused, RunConsole, Signals, SurroundingFaults
from smspec.local.running.run_directory import REHEARSAL, RunDirectory, claim
from smspec.rehearsal.disturbances import no_interruption_reason
from smspec.rehearsal.promises import interruptions, pipes, progress, surroundings
from smspec.rehearsal.rehearsal import Rehearsal, RehearsedJob, UndisturbedFailed
from smspec.rehearsal.report import Promise, PromiseOutcome, PromiseRow, Report, not_rehearsed
from smspec.rehearsal.trial import Trial
from smspec.source.frozen import replace

PROMISES: tuple[Promise, ...] = (
    Promise(
        name="spot",
        statement="a Spot interruption does not change the model",
        reason_against=no_interruption_reason,
        rehearse=interruptions.rehearse_spot,
    ),
    Promise(
        name="progress",
        statement="after an interruption, the job continues from its checkpoints",
        reason_against=no_interruption_reason,
        rehearse=progress.rehearse_progress,
    ),
    Promise(
        name="lost-host",
        statement="the loss of a host does not change the model",
        reason_against=no_interruption_reason,
        rehearse=interruptions.rehearse_lost_host,
    ),
    Promise(
        name="half-written-checkpoint",
        statement="a host that is lost while it writes a checkpoint does not change the model",
        reason_against=interruptions.no_half_written_checkpoint_reason,
        rehearse=interruptions.rehearse_half_written_checkpoint,
    ),
    Promise(
        name="stop",
        statement="the job ends when it is stopped",
        reason_against=lambda _: None,
        rehearse=interruptions.rehearse_stop,
    ),
    Promise(
        name="killed-process",
        statement="a killed training process fails the job instead of spoiling it",
        reason_against=surroundings.unless_supported(SurroundingFaults(kill_after=0.0)),
        rehearse=surroundings.rehearse_killed_process,
    ),
    Promise(
        name="absent-host",
        statement="a host that never comes up fails the job instead of stopping it forever",
        reason_against=surroundings.no_absent_host_reason,
        rehearse=surroundings.rehearse_absent_host,
    ),
    Promise(
        name="full-volume",
        statement="a full disk fails the job instead of losing its model",
        reason_against=surroundings.unless_supported(SurroundingFaults(room=0)),
        rehearse=surroundings.rehearse_full_volume,
    ),
    Promise(
        name="read-only-model",
        statement="a model directory that cannot be written fails the job",
        reason_against=surroundings.unless_supported(SurroundingFaults(protects_model=True)),
        rehearse=surroundings.rehearse_read_only_model,
    ),
    Promise(
        name="stalled-pipe",
        statement="a Pipe stream that pauses does not change the model",
        reason_against=pipes.no_pipe_reason,
        rehearse=pipes.rehearse_stalled_pipe,
    ),
    Promise(
        name="truncated-pipe",
        statement="a Pipe stream that ends inside a record fails the job",
        reason_against=pipes.no_pipe_reason,
        rehearse=pipes.rehearse_truncated_pipe,
    ),
    Promise(
        name="slow-s3",
        statement="an S3 endpoint that is slow and fails at times does not change the model",
        reason_against=pipes.no_endpoint_reason,
        rehearse=pipes.rehearse_slow_s3,
    ),
    Promise(
        name="failing-s3",
        statement="an S3 endpoint that fails for good fails the job instead of stopping it forever",
        reason_against=pipes.no_endpoint_reason,
        rehearse=pipes.rehearse_failing_s3,
    ),
)


def rehearse_job(rehearsed: RehearsedJob, promises: Sequence[Promise], console: RunConsole) -> Report:
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


def _rows(rehearsal: Rehearsal, promises: Sequence[Promise]) -> tuple[list[PromiseRow], Trial | None]:
    """Return a row for each promise, and the undisturbed run that failed, if one did."""
    applicable = [(promise, promise.reason_against(rehearsal)) for promise in promises]
    failed: Trial | None = None
    rows = []
    if any(promise.name == "progress" for promise in promises):
        rehearsal.awaited.update(progress.TRIALS)
    try:
        # Even where no promise applies: a job that fails anyway keeps none.
        rehearsal.undisturbed()
    except UndisturbedFailed as failure:
        failed = failure.trial
    for promise, reason in applicable:
        outcome = _outcome(rehearsal, promise, reason if failed is None else "the job fails undisturbed")
        if isinstance(outcome, Trial):
            failed, outcome = outcome, not_rehearsed("the job fails undisturbed")
        rows.append(PromiseRow(name=promise.name, statement=promise.statement, outcome=outcome))
    return rows, failed


def _outcome(rehearsal: Rehearsal, promise: Promise, reason: str | None) -> PromiseOutcome | Trial:
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
