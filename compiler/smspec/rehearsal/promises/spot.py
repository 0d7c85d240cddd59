"""A Spot interruption: SIGTERM and two minutes, then a new container with the same checkpoints and nothing else."""

from __future__ import annotations

from smspec.rehearsal.interruptions import interruption_outcome, no_interruption_reason, spot_courses
from smspec.rehearsal.promise import Outcome, Promise
from smspec.rehearsal.rehearsal import Rehearsal


def _rehearse(rehearsal: Rehearsal) -> Outcome:
    return interruption_outcome(rehearsal, spot_courses(rehearsal))


PROMISE = Promise(
    name="spot",
    statement="a Spot interruption does not change the model",
    reason_against=no_interruption_reason,
    rehearse=_rehearse,
)
