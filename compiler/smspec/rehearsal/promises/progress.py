"""The job continues after an interruption: it writes checkpoints in time, and reads them."""

from __future__ import annotations

from smspec.local.units import duration
from smspec.rehearsal.course import Course
from smspec.rehearsal.interruptions import no_interruption_reason, spot_course
from smspec.rehearsal.promise import Outcome, Promise, kept, not_rehearsed
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.work import ignored_checkpoint, is_long_enough, units_before_the_first_checkpoint, work_of

_SET = "set `checkpoints`, save to its directory while the job runs, and load the newest checkpoint at the start"
_SAVE = "save a checkpoint there every few minutes, and load the newest one at the start"
_LOAD = "load the newest checkpoint at the start of the script, and skip the work that it contains"
_NEWEST = "load the newest checkpoint: compare numbers in the names of files as numbers, not as text"
_LATE = 0.9


def _rehearse(rehearsal: Rehearsal) -> Outcome:
    directory = rehearsal.training.checkpoint_directory
    if rehearsal.checkpoints is None:
        seen = "`checkpoints` is not set: after each interruption the job starts from scratch"
        return Outcome(state="broken", seen=(seen,), advice=_SET)
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
        return kept(f"an interruption cost {duration(lost)}; the job logs too little to count the repeated work")
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


def _broken(course: Course, seen: str, advice: str) -> Outcome:
    last = course.last
    return Outcome(
        state="broken",
        seen=(seen,),
        advice=advice,
        trial=course.name,
        moment=str(course),
        log=last.last_log,
        directory=last.directory,
    )


PROMISE = Promise(
    name="progress",
    statement="after an interruption, the job continues from its checkpoints",
    reason_against=no_interruption_reason,
    rehearse=_rehearse,
)
