"""Jobs that were interrupted, or whose surroundings failed once: their runs, and the outcome of a promise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from smspec.local.record.units import duration
from smspec.local.running.request import Interruption, Moment, SurroundingFaults
from smspec.rehearsal.comparison import Difference, ResultComparison
from smspec.rehearsal.moments import Moments
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.report import PromiseOutcome, kept, not_rehearsed
from smspec.rehearsal.trial import Trial, TrialCourse
from smspec.rehearsal.values import first_deviation
from smspec.source.frozen import dataclass

_ADVICE = (
    "save everything that the next step depends on in each checkpoint (step and epoch, model, optimizer, learning rate "
    "schedule, random generators, position in the data, best values), and restore all of it at the start"
)
IN_PLACE = (
    "write each checkpoint to a temporary name in the same directory, then rename it with `os.replace`: a rename "
    "happens as a whole or not at all"
)
_UNREADABLE = re.compile(
    r"JSONDecodeError|EOFError|UnpicklingError|pickle data was truncated|Ran out of input|BadZipFile|BadGzipFile"
    r"|unexpected (?:end|EOF)|end of file|PytorchStreamReader|central directory|invalid header|HeaderTooLarge|corrupt"
    r"|truncated|SafetensorError|incomplete metadata|cannot reshape|not a zip file|Unable to (?:synchronously )?open"
    r"|UnicodeDecodeError|ParserError|DataLossError",
    re.IGNORECASE,
)
"""What readers report about a file that was written in part."""
_FAILED = "make the script continue from whatever is in the checkpoint directory, also if it has nothing left to do"

_LAST_LINES = 40

_MANY, _REPEATS = 6, 3
"""The undisturbed runs that must agree on a short value, and how often the same disturbance must change it again.

Of jobs whose result is one of two values by chance, at most 5 in 1,000 are then accused, whatever their chances are:
with 6 runs and no repetition, it would be 300.
"""

Plan = dict[str, tuple[Moment, ...]]
"""The name of each interrupted job, and the moments of its interruptions, one after each start."""


def no_interruption_reason(rehearsal: Rehearsal) -> str | None:
    """Return why an interruption makes no sense for a job."""
    if rehearsal.checkpoints is None and not rehearsal.training.is_spot:
        return "the job has neither `spot` nor `checkpoints`: SageMaker does not restart it"
    return None


def _spot_plan(rehearsal: Rehearsal) -> Plan:
    moments = Moments(rehearsal.undisturbed()[0].timeline, rehearsal.seed)
    return {
        "middle": (moments.between(),),
        "twice": (moments.right_after(), moments.soon_after_restart()),
        "late": (moments.after_the_last(),),
        "twice-again": (moments.between(1), moments.soon_after_restart(1)),
    }


def _loss_plan(rehearsal: Rehearsal) -> Plan:
    moments = Moments(rehearsal.undisturbed()[0].timeline, rehearsal.seed)
    return {
        "late": (moments.late(2),),
        "twice": (moments.right_after(1), moments.soon_after_restart(1)),
        "early": (moments.before_the_first(),),
    }


def spot_courses(rehearsal: Rehearsal) -> Iterator[TrialCourse]:
    """Yield the job under Spot interruptions: in each part of the run, and twice in one job."""
    yield from _courses(rehearsal, "spot", _spot_plan(rehearsal), is_loss=False)


def spot_course(rehearsal: Rehearsal, name: str) -> TrialCourse:
    """Return the job under one of these."""
    plan = _spot_plan(rehearsal)
    return next(_courses(rehearsal, "spot", {name: plan[name]}, is_loss=False))


def loss_courses(rehearsal: Rehearsal) -> Iterator[TrialCourse]:
    """Yield the job under losses of a host."""
    yield from _courses(rehearsal, "lost-host", _loss_plan(rehearsal), is_loss=True)


def _courses(rehearsal: Rehearsal, promise: str, plan: Plan, *, is_loss: bool) -> Iterator[TrialCourse]:
    grace = rehearsal.request.grace
    for number, (name, moments) in enumerate(plan.items(), 1):
        interruptions = tuple(Interruption(moment=moment, grace=grace, is_loss=is_loss) for moment in moments)
        if not rehearsal.has_course(f"{promise}-{name}"):
            words = ", then ".join(map(str, interruptions))
            rehearsal.show(f"{promise}: trial {number} of {len(plan)}: {words}")
        yield rehearsal.course(f"{promise}-{name}", interruptions)


def interruption_outcome(rehearsal: Rehearsal, courses: Iterable[TrialCourse]) -> PromiseOutcome:
    """Compare the result of each interrupted job with undisturbed runs; the first difference breaks the promise."""
    came: list[TrialCourse] = []
    comparisons: list[ResultComparison] = []
    for course in courses:
        if not course.count:
            if not course.last.completed:
                return not_rehearsed(f"the job failed before it was interrupted: {_reason(course)}")
            rehearsal.discard(course.name)
            continue
        came.append(course)
        if not course.last.completed:
            return _broken(rehearsal, course, (f"the restarted job fails: {_reason(course)}",), advice_for(course))
        comparison = compared(rehearsal, course.last, partial(_again, rehearsal, course))
        comparisons.append(comparison)
        if comparison.differences:
            where = first_deviation(rehearsal.references, course.last)
            seen = (*described(comparison.differences), *filter(None, [where]))
            return _broken(rehearsal, course, seen, _ADVICE)
        rehearsal.discard(course.name)
    if not came:
        return not_rehearsed("the job always ended before it could be interrupted")
    return _kept(came, comparisons)


def compared(rehearsal: Rehearsal, last: Trial, again: Callable[[int], Trial] | None = None) -> ResultComparison:
    """Return how the model and the metrics of a disturbed job differ from those of undisturbed runs.

    A value that is equal in two of them may still be a time: only one that a run after the trial repeats accuses.
    Short ones, such as a rounded accuracy, are often equal without a seed: more runs must repeat them, and ``again``,
    which repeats the disturbance, must always change them.
    """
    comparison = _comparison(rehearsal, 2, last)
    for count in (3, _MANY):
        if comparison.differences and not (count == _MANY and comparison.is_certain):
            comparison = _comparison(rehearsal, count, last)
    for number in range(1, 1 + _REPEATS * (again is not None)):
        if not comparison.differences or comparison.is_certain:
            break
        assert again is not None
        rehearsal.show(f"the same again, {number} of {_REPEATS}: a difference in so few values may be chance")
        repeated = again(number)
        if not repeated.completed:
            break
        comparison.confirmed_by(_comparison(rehearsal, _MANY, repeated))
        rehearsal.unsteady |= comparison.unconfirmed
    return comparison


def _comparison(rehearsal: Rehearsal, count: int, last: Trial) -> ResultComparison:
    """Compare a run with some undisturbed ones, except what has turned out to vary."""
    definitions = rehearsal.training.metric_definitions
    regexes = {str(one.get("Name")): str(one.get("Regex")) for one in definitions if isinstance(one, dict)}
    comparison = ResultComparison(rehearsal.undisturbed(count), last, rehearsal.tolerance, rehearsal.hide, regexes)
    for what in rehearsal.unsteady:
        comparison.leave_out(what)
    return comparison


def _again(rehearsal: Rehearsal, course: TrialCourse, number: int) -> Trial:
    """Interrupt the job once more at the same moments; return its last run."""
    return rehearsal.course(f"{course.name}/again-{number}", course.interruptions).last


def described(found: Sequence[Difference]) -> tuple[str, ...]:
    """Return the first differences as sentences."""
    more = [f"and {len(found) - 3} more files and metrics"] if len(found) > 3 else []
    return (*map(str, found[:3]), *more)


def _kept(courses: Sequence[TrialCourse], comparisons: Sequence[ResultComparison]) -> PromiseOutcome:
    count = sum(course.count for course in courses)
    jobs = f"{len(courses)} jobs" if len(courses) > 1 else "1 job"
    interruptions = f"{count} interruption{'s' if count > 1 else ''} in {jobs}"
    done = {what for comparison in comparisons for what in comparison.compared}
    left_out = {
        what: reason for comparison in comparisons for what, reason in comparison.left_out.items() if what not in done
    }
    if not done:
        reasons = listed(left_out) or "the job has no model and no metrics"
        return not_rehearsed(f"{interruptions}: the job completes, but nothing can be compared: {reasons}")
    result = f"{interruptions}: the same model and metrics"
    remarks = {str(remark): None for comparison in comparisons for remark in comparison.remarks}
    if remarks:
        result += f", except {'; '.join([*remarks][:3])}, which counts the last start alone"
    return kept(f"{result}, except what was not compared: {listed(left_out)}" if left_out else result)


def listed(left_out: Mapping[str, str]) -> str:
    """Return the first of what was not compared, with its reasons."""
    shown = [f"{what} ({reason})" for what, reason in [*left_out.items()][:3]]
    more = f", and {len(left_out) - 3} more" if len(left_out) > 3 else ""
    return ", ".join(shown) + more


def _broken(rehearsal: Rehearsal, course: TrialCourse, seen: tuple[str, ...], advice: str) -> PromiseOutcome:
    last = course.last
    rehearsal.shown.add(course.name)
    return PromiseOutcome(
        state="broken",
        seen=seen,
        advice=advice,
        trial=course.name,
        moment=str(course),
        log=last.last_log,
        directory=last.directory,
    )


def advice_for(course: TrialCourse) -> str:
    """Return what to do about a restarted job that fails: its checkpoint may be written in part."""
    texts = [course.last.summary.failure_reason, *(line.text for line in course.last.timeline.lines[-_LAST_LINES:])]
    return IN_PLACE if any(map(_UNREADABLE.search, texts)) else _FAILED


def _reason(course: TrialCourse) -> str:
    return course.last.summary.failure_reason.partition("\n")[0] or course.last.summary.status


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """``differences`` from undisturbed runs, in words. ``is_known``: something in all of them is equal.

    ``is_whole``: everything in their models is. ``left_out``: what is not, in words.
    """

    differences: tuple[str, ...]
    is_known: bool
    is_whole: bool
    left_out: str

    @property
    def as_undisturbed(self) -> str:
        """How a job completed in which no difference was found, as the end of a sentence."""
        return f" as undisturbed, except what was not compared: {self.left_out}" if self.left_out else " as undisturbed"

    @property
    def doubt(self) -> str:
        """Why the models may differ although no difference was found."""
        if not self.is_known:
            return f"nothing can be compared: {self.left_out or 'the job has no model and no metrics'}"
        return self.left_out or "undisturbed runs differ in some values of the model"


def time_limit(rehearsal: Rehearsal) -> float:
    """Return the seconds after which a disturbed run counts as one that hangs."""
    return 2 * rehearsal.undisturbed()[0].seconds + rehearsal.patience


def run_with(rehearsal: Rehearsal, name: str, *, faults: SurroundingFaults, **changes: object) -> Trial:
    """Run the job once with faults of its surroundings."""
    return rehearsal.run(name, faults=faults, **changes)


def hangs(trial: Trial) -> bool:
    """Return whether the time limit ended the run."""
    return trial.summary.status == "Stopped"


def hanging(rehearsal: Rehearsal, trial: Trial, what: str, advice: str) -> PromiseOutcome:
    """Return the outcome of a job that does not end. ``what``: the fault, as a clause."""
    count = len(trial.hosts)
    billed = f"{count} instances are" if count != 1 else "the instance is"
    undisturbed = duration(rehearsal.undisturbed()[0].seconds)
    return broken(
        trial,
        f"hangs: {what}, and the job is still running after {duration(trial.seconds)} ({undisturbed} undisturbed)",
        f"{billed} billed until `stopping.max_runtime`, or until a timeout of the script ends the wait",
        advice=advice,
    )


def broken(trial: Trial, *seen: str, advice: str) -> PromiseOutcome:
    """Return the outcome of a broken promise."""
    return PromiseOutcome(
        state="broken", seen=seen, advice=advice, trial=trial.name, log=trial.last_log, directory=trial.directory
    )


def failure_of(trial: Trial) -> str:
    """Return the first line of the failure reason."""
    return trial.summary.failure_reason.partition("\n")[0] or trial.summary.status


def likeness(rehearsal: Rehearsal, trial: Trial, again: Callable[[str], Trial]) -> Likeness:
    """Compare the model and the metrics of a completed job with those of undisturbed runs.

    ``again`` runs the job with the same fault, and takes the name of the run.
    """
    comparison = compared(rehearsal, trial, lambda number: again(f"{trial.name}-again-{number}"))
    return Likeness(
        differences=described(comparison.differences),
        is_known=bool(comparison.compared),
        is_whole=comparison.is_whole,
        left_out=listed(comparison.left_out),
    )
