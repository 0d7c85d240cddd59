"""A host that is lost while it writes a checkpoint: the next start finds a part of the newest file."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

from smspec.local.interruption import Interruption, Moment
from smspec.rehearsal.course import checkpoints_left
from smspec.rehearsal.cut_checkpoint import Cut, Unclear, cut_checkpoint
from smspec.rehearsal.interruptions import compared, described
from smspec.rehearsal.moments import checkpoints_of
from smspec.rehearsal.promise import Outcome, Promise, kept, not_rehearsed
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.trial import Trial

_IN_PLACE = (
    "write each checkpoint to a temporary name in the same directory, then rename it with `os.replace`: a rename "
    "happens as a whole or not at all"
)
_TEMPORARY = "at the start, ignore files that were not renamed to their final names"


def _reason_against(rehearsal: Rehearsal) -> str | None:
    return "the job has no `checkpoints`" if rehearsal.checkpoints is None else None


def _rehearse(rehearsal: Rehearsal) -> Outcome:
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


def _outcome(rehearsal: Rehearsal, last: Trial, cut: Cut, again: Callable[[int], Trial]) -> Outcome:
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
    return Outcome(
        state="broken",
        seen=seen,
        advice=_IN_PLACE if cut.is_in_place else _TEMPORARY,
        trial="half-written",
        moment=f"while it wrote {cut.path}",
        log=last.last_log,
        directory=last.directory,
    )


PROMISE = Promise(
    name="half-written-checkpoint",
    statement="a host that is lost while it writes a checkpoint does not change the model",
    reason_against=_reason_against,
    rehearse=_rehearse,
)
