"""The interrupted jobs of a rehearsal, and the outcome of a promise about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from smspec.local.interruption import Interruption, Moment
from smspec.rehearsal.comparison import Comparison, Difference
from smspec.rehearsal.course import Course
from smspec.rehearsal.moments import Moments
from smspec.rehearsal.promise import Outcome, kept, not_rehearsed
from smspec.rehearsal.rehearsal import Rehearsal

_ADVICE = (
    "save everything that the next step depends on in each checkpoint (step and epoch, model, optimizer, learning rate "
    "schedule, random generators, position in the data, best values), and restore all of it at the start"
)
_FAILED = "make the script continue from whatever is in the checkpoint directory, also if it has nothing left to do"


def no_interruption_reason(rehearsal: Rehearsal) -> str | None:
    """Return why an interruption makes no sense for a job."""
    if rehearsal.checkpoints is None and not rehearsal.training.is_spot:
        return "the job has neither `spot` nor `checkpoints`: SageMaker does not restart it"
    return None


def spot_courses(rehearsal: Rehearsal) -> Iterator[Course]:
    """Yield the job under Spot interruptions: in each part of the run, and twice in one job."""
    moments = Moments(rehearsal.undisturbed()[0].timeline, rehearsal.seed)
    plans = (
        (moments.between(),),
        (moments.right_after(), moments.soon_after_restart()),
        (moments.after_the_last(),),
        (moments.between("once more"), moments.soon_after_restart("once more")),
    )
    yield from _courses(rehearsal, "spot", plans, is_loss=False)


def loss_courses(rehearsal: Rehearsal) -> Iterator[Course]:
    """Yield the job under losses of a host."""
    moments = Moments(rehearsal.undisturbed()[0].timeline, rehearsal.seed)
    plans = (
        (moments.between("lost"),),
        (moments.right_after("lost"), moments.soon_after_restart("lost")),
        (moments.before_the_first(),),
    )
    yield from _courses(rehearsal, "lost-host", plans, is_loss=True)


def _courses(
    rehearsal: Rehearsal, name: str, plans: Sequence[tuple[Moment, ...]], *, is_loss: bool
) -> Iterator[Course]:
    grace = rehearsal.request.grace
    for number, moments in enumerate(plans, 1):
        interruptions = tuple(Interruption(moment=moment, grace=grace, is_loss=is_loss) for moment in moments)
        rehearsal.show(f"{name}: trial {number} of {len(plans)}: {', then '.join(map(str, interruptions))}")
        yield rehearsal.course(f"{name}-{number}", interruptions)


def interruption_outcome(rehearsal: Rehearsal, courses: Iterable[Course]) -> Outcome:
    """Compare the result of each interrupted job with undisturbed runs; the first difference breaks the promise."""
    references = rehearsal.undisturbed(2)
    came = []
    for course in courses:
        if not course.count:
            if not course.last.completed:
                return _broken(course, (f"the job failed before it was interrupted: {_reason(course)}",), _FAILED)
            rehearsal.discard(course.name)
            continue
        came.append(course)
        if not course.last.completed:
            return _broken(course, (f"the restarted job fails: {_reason(course)}",), _FAILED)
        comparison = Comparison(references, rehearsal.tolerance)
        found = comparison.differences(course.trials)
        if found:
            # An equal value of two runs may still be a time: only what a later run repeats accuses.
            references = rehearsal.undisturbed(3)
            comparison = Comparison(references, rehearsal.tolerance)
            found = comparison.differences(course.trials)
        if found:
            return _broken(course, _described(found), _ADVICE)
        rehearsal.discard(course.name)
    if not came:
        return not_rehearsed("the job always ended before it could be interrupted")
    count = sum(course.count for course in came)
    return kept(f"{count} interruptions in {len(came)} jobs: the same model and metrics")


def _described(found: Sequence[Difference]) -> tuple[str, ...]:
    more = [f"and {len(found) - 3} more files and metrics"] if len(found) > 3 else []
    return (*map(str, found[:3]), *more)


def _broken(course: Course, seen: tuple[str, ...], advice: str) -> Outcome:
    last = course.last
    return Outcome(
        state="broken",
        seen=seen,
        advice=advice,
        trial=course.name,
        moment=str(course),
        log=last.last_log,
        directory=last.directory,
    )


def _reason(course: Course) -> str:
    return course.last.summary.failure_reason.partition("\n")[0] or course.last.summary.status
