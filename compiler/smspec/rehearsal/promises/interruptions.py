"""Promises about interruptions: Spot, a lost host, a checkpoint that is half written, and StopTrainingJob."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

from smspec.local.record.units import duration
from smspec.local.running.request import Interruption, Moment
from smspec.rehearsal.cut_checkpoint import Cut, Unclear, cut_checkpoint
from smspec.rehearsal.disturbances import (
    IN_PLACE,
    compared,
    described,
    interruption_outcome,
    loss_courses,
    spot_courses,
)
from smspec.rehearsal.moments import Moments, checkpoints_of
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.report import PromiseOutcome, kept, not_rehearsed
from smspec.rehearsal.trial import Trial, checkpoints_left

_OF_THE_RUNTIME = 110.0
"""The seconds after which the runtime kills what is left, so that it can still report the failure."""

_ADVICE_STOP = (
    "end within 120 s of SIGTERM, for example with `signal.signal(signal.SIGTERM, ...)` and a flag that the training "
    "loop reads, or with `smspec_runtime.job().stopping`"
)

_TEMPORARY = "at the start, ignore files that were not renamed to their final names"


def rehearse_spot(rehearsal: Rehearsal) -> PromiseOutcome:
    """A Spot interruption: SIGTERM and two minutes, then a new container with the same checkpoints and nothing else."""
    return interruption_outcome(rehearsal, spot_courses(rehearsal))


def rehearse_lost_host(rehearsal: Rehearsal) -> PromiseOutcome:
    """A host that is lost at once; then the job starts again with its checkpoints and nothing else."""
    return interruption_outcome(rehearsal, loss_courses(rehearsal))


def rehearse_stop(rehearsal: Rehearsal) -> PromiseOutcome:
    """StopTrainingJob: SIGTERM, and SIGKILL after two minutes.

    SageMaker keeps what the model directory has then.
    """
    reference = rehearsal.undisturbed()[0]
    moment = Moments(reference.timeline, rehearsal.seed).at(0.5)
    grace = rehearsal.request.grace
    interruption = Interruption(moment=moment, grace=grace)
    trial = rehearsal.run("stop", interruption=interruption)
    if not trial.was_interrupted:
        return not_rehearsed("the job ended before it could be stopped")
    seconds, files = trial.seconds_to_end, trial.model_files
    model = f"{files} file{'s' if files > 1 else ''}" if files else "nothing"
    if seconds < 0.95 * min(grace, _OF_THE_RUNTIME):
        rehearsal.discard(trial.name)
        return kept(f"the job ended {duration(seconds)} after SIGTERM, with {model} in the model directory")
    return PromiseOutcome(
        state="broken",
        seen=(
            f"the job was still running {duration(seconds)} after SIGTERM, and was killed; "
            f"the model directory had {model}",
        ),
        advice=_ADVICE_STOP,
        trial=trial.name,
        moment=str(interruption),
        log=trial.last_log,
        directory=trial.directory,
    )


def no_half_written_checkpoint_reason(rehearsal: Rehearsal) -> str | None:
    return "the job has no `checkpoints`" if rehearsal.checkpoints is None else None


def rehearse_half_written_checkpoint(rehearsal: Rehearsal) -> PromiseOutcome:
    """A host that is lost while it writes a checkpoint: the next start finds a part of the newest file."""
    reference = rehearsal.undisturbed(2)[0]
    checkpoints = checkpoints_of(reference.timeline)
    if not checkpoints:
        return not_rehearsed("the job writes no checkpoints unless it is interrupted")
    chosen = random.Random(f"{rehearsal.seed} half").randrange(len(checkpoints) // 2, len(checkpoints))
    moments = [Moment(after="checkpoint", count=len(checkpoints[chosen].changes))]
    if chosen:
        moments.insert(0, Moment(after="checkpoint", count=checkpoints[chosen - 1].last))
    trials: list[Trial] = []
    states = [rehearsal.path("half-written", "checkpoints-0")]
    os.makedirs(states[0])
    for number, moment in enumerate(moments, 1):
        interruption = Interruption(moment=moment, grace=rehearsal.request.grace, is_loss=True)
        rehearsal.show(f"half-written-checkpoint: start {number} of {len(moments) + 1}: {interruption}")
        trials.append(rehearsal.run(f"half-written/start-{number}", interruption=interruption, checkpoints=states[-1]))
        if not trials[-1].was_interrupted:
            return not_rehearsed("the job ended before it could be interrupted")
        states.append(rehearsal.path("half-written", f"checkpoints-{number}"))
        checkpoints_left(trials[-1], states[-1])
    state = rehearsal.path("half-written", "checkpoints-cut")
    changes = trials[-1].timeline.changes
    try:
        cut = cut_checkpoint(states[-2], states[-1], changes, moments[-1].count, state)
    except Unclear as unclear:
        return not_rehearsed(str(unclear))
    rehearsal.show(f"half-written-checkpoint: start {len(moments) + 1} of {len(moments) + 1}: with {cut}")

    def start(name: str) -> Trial:
        return rehearsal.run(f"half-written/start-{name}", checkpoints=state)

    last = start(str(len(moments) + 1))
    outcome = _outcome(rehearsal, last, cut, lambda number: start(f"again-{number}"))
    if outcome.state == "broken":
        control = rehearsal.run("half-written/start-whole", checkpoints=states[-2])
        if not control.completed or compared(rehearsal, control).differences:
            return not_rehearsed("the job does not survive a restart with whole checkpoints either")
    return outcome


def _outcome(rehearsal: Rehearsal, last: Trial, cut: Cut, again: Callable[[int], Trial]) -> PromiseOutcome:
    how = "is written in place" if cut.is_in_place else "is written before it is renamed"
    if not last.completed:
        reason = last.summary.failure_reason.partition("\n")[0] or last.summary.status
        seen: tuple[str, ...] = (f"with {cut}, which {how}, the restarted job fails: {reason}",)
    else:
        comparison = compared(rehearsal, last, again)
        if not comparison.differences:
            rehearsal.discard("half-written")
            if not comparison.compared:
                return not_rehearsed("the job completes, but neither its model nor its metrics can be compared")
            return kept(f"with {cut}, which {how}: the same model and metrics")
        seen = (f"with {cut}, which {how}, the result differs", *described(comparison.differences))
    return PromiseOutcome(
        state="broken",
        seen=seen,
        advice=IN_PLACE if cut.is_in_place else _TEMPORARY,
        trial="half-written",
        moment=f"while it wrote {cut.path}",
        log=last.last_log,
        directory=last.directory,
    )
