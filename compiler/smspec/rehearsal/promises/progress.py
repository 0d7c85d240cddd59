"""The promise that a job continues after an interruption: it writes checkpoints in time, and reads them.

How much of its work an interrupted job repeats is counted in values of a metric, steps in the log, or checkpoints.
"""

from __future__ import annotations

import re

from smspec.local.record.units import duration
from smspec.local.running.training_request import TrainingRequest
from smspec.rehearsal.disturbances import spot_course
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.repeated_work import FEWEST, Work, first_step_of, is_long_enough, of_metrics, work_of
from smspec.rehearsal.report import PromiseOutcome, kept, not_rehearsed
from smspec.rehearsal.trial import Trial, TrialCourse

_NUMBER = re.compile(r"\d+")

_SET = "set `checkpoints`, save to its directory while the job runs, and load the newest checkpoint at the start"
_SAVE = "save a checkpoint there every few minutes, and load the newest one at the start"
_LOAD = "load the newest checkpoint at the start of the script, and skip the work that it contains"
_NEWEST = "load the newest checkpoint: compare numbers in the names of files as numbers, not as text"
_LATE = 0.9

TRIALS = ("spot-late", "spot-middle")
"""The trials of `spot` that this promise looks at."""


def ignored_checkpoint(training: TrainingRequest, reference: Trial, course: TrialCourse) -> tuple[str, str] | None:
    """Return the checkpoint with which the restarted job went on, and the newest one of the same kind, if it is newer.

    The job may have removed the newer ones itself, if it thinks that they are older.
    Checkpoints of one kind have the same names but for their numbers. The values of a metric show where a job goes on.
    """
    if course.count != 1 or len(course.trials) != 2:
        return None
    first = course.trials[0].timeline
    for _, positions in of_metrics(training, reference)[:1]:
        total, lines = len(positions(reference.timeline)), positions(first)
        start = first_step_of(positions, reference, course)
        if start is None:
            return None
        removed = {change.path for change in first.changes if change.kind == "removed"}
        temporary = {change.source for change in first.changes}
        units = {
            change.path: sum(line < change.lines for line in lines)
            for change in first.writes
            if change.path not in temporary
        }
        for path, unit in sorted(units.items(), key=lambda item: abs(item[1] - start)):
            if path in removed:
                continue
            newer = [
                other
                for other, later in units.items()
                if _NUMBER.sub("#", other) == _NUMBER.sub("#", path) and later >= unit + 3
            ]
            if total >= FEWEST and unit > 0 and abs(unit - start) <= 1 and len(newer) > 1:
                return path, max(newer, key=lambda name: units[name])
    return None


def units_before_the_first_checkpoint(training: TrainingRequest, reference: Trial) -> Work | None:
    """Return how many values of a metric a run logs before its first checkpoint, if there are enough of them."""
    for unit, positions in of_metrics(training, reference):
        found = positions(reference.timeline)
        if len(found) >= FEWEST and reference.timeline.writes:
            done = sum(line < reference.timeline.writes[0].lines for line in found)
            return Work(unit=unit, total=len(found), done=done, saved=0, after=0)
    return None


def rehearse_progress(rehearsal: Rehearsal) -> PromiseOutcome:
    """The job continues after an interruption: it writes checkpoints in time, and reads them."""
    outcome = _outcome(rehearsal)
    rehearsal.awaited.difference_update(TRIALS)
    for name in TRIALS:
        if name not in (outcome.trial, *rehearsal.shown):
            rehearsal.discard(name)
    return outcome


def _outcome(rehearsal: Rehearsal) -> PromiseOutcome:
    directory = rehearsal.training.checkpoint_directory
    if rehearsal.checkpoints is None:
        seen = "`checkpoints` is not set: after each interruption the job starts from scratch"
        return PromiseOutcome(state="broken", seen=(seen,), advice=_SET)
    reference = rehearsal.undisturbed(1)[0]
    # The later the interruption, the more there is to lose.
    course = next((one for one in (spot_course(rehearsal, name) for name in ("late", "middle")) if one.count), None)
    if course is None:
        return not_rehearsed("the job always ended before it could be interrupted")
    if not course.last.completed:
        return not_rehearsed("the restarted job fails: see `spot`")
    if not course.passed_on[0] and not reference.timeline.writes:
        if not is_long_enough(rehearsal.training, reference):
            return not_rehearsed(f"the job wrote nothing to {directory}, and logs too little to tell how long it is")
        seen = f"the job wrote nothing to {directory}, so each interruption starts it from scratch"
        return _broken(course, seen, _SAVE)
    early = units_before_the_first_checkpoint(rehearsal.training, reference)
    if (
        early is not None
        and early.done >= _LATE * early.total
        and spot_course(rehearsal, "middle").passed_on[:1] == (0,)
    ):
        seen = f"the first checkpoint comes after {early.done:,} of {early.total:,} {early.unit}"
        return _broken(course, f"{seen}: an interruption before it starts the job from scratch", _SAVE)
    work = work_of(rehearsal.training, reference, course)
    lost = max(0.0, course.seconds - reference.seconds)
    if work is None:
        return kept(f"an interruption cost {duration(lost)}; its log does not count the repeated work")
    if work.is_from_scratch and course.passed_on[0]:
        seen = (
            f"the restarted job did everything again ({work.after:,} {work.unit}), although its checkpoints had "
            f"{work.saved:,} of {work.total:,}"
        )
        return _broken(course, f"{seen}: {duration(lost)} lost", _LOAD)
    older = ignored_checkpoint(rehearsal.training, reference, course)
    if older is not None:
        seen = f"the restarted job went on from `{older[0]}`, although it had saved `{older[1]}`: it repeats {work}"
        return _broken(course, f"{seen}, {duration(lost)} lost", _NEWEST)
    return kept(f"an interruption repeats {work} and costs {duration(lost)}")


def _broken(course: TrialCourse, seen: str, advice: str) -> PromiseOutcome:
    last = course.last
    return PromiseOutcome(
        state="broken",
        seen=(seen,),
        advice=advice,
        trial=course.name,
        moment=str(course),
        log=last.last_log,
        directory=last.directory,
    )
