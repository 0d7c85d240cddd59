"""A host that is lost: every process ends at once, then the job starts again with its checkpoints and nothing else."""

from __future__ import annotations

from smspec.rehearsal.interruptions import interruption_outcome, loss_courses, no_interruption_reason
from smspec.rehearsal.promise import Outcome, Promise
from smspec.rehearsal.rehearsal import Rehearsal


def _rehearse(rehearsal: Rehearsal) -> Outcome:
    return interruption_outcome(rehearsal, loss_courses(rehearsal))


PROMISE = Promise(
    name="lost-host",
    statement="the loss of a host does not change the model",
    reason_against=no_interruption_reason,
    rehearse=_rehearse,
)
