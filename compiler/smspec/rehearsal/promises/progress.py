"""The promise that a job continues after an interruption: it writes checkpoints in time, and reads them.

How much of its work an interrupted job repeats is counted in values of a metric, lines of the log, or checkpoints.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from smspec.local.record.units import duration
from smspec.local.running.training_request import TrainingRequest
from smspec.rehearsal.disturbances import spot_course
from smspec.rehearsal.rehearsal import Rehearsal
from smspec.rehearsal.report import PromiseOutcome, kept, not_rehearsed
from smspec.rehearsal.trial import Timeline, Trial, TrialCourse
from smspec.source.frozen import dataclass

_FEWEST = 4
"""With fewer units, a job that starts from scratch looks like one that continues."""
_LONGEST_LINE = 300
_NUMBER = re.compile(r"\d+")

_SET = "set `checkpoints`, save to its directory while the job runs, and load the newest checkpoint at the start"
_SAVE = "save a checkpoint there every few minutes, and load the newest one at the start"
_LOAD = "load the newest checkpoint at the start of the script, and skip the work that it contains"
_NEWEST = "load the newest checkpoint: compare numbers in the names of files as numbers, not as text"
_LATE = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """``total`` units of an undisturbed run, in the same ``unit`` as the others.

    ``done`` before the interruption, ``saved`` of these before the last checkpoint, ``after`` the restart. ``margin``:
    how many units a start may add, such as a line that it logs.
    """

    unit: str
    total: int
    done: int
    saved: int
    after: int
    margin: int = 2

    @property
    def repeated(self) -> int:
        """How many units were done twice."""
        return max(0, self.done + self.after - self.total)

    @property
    def is_from_scratch(self) -> bool:
        """Whether the restarted job certainly did everything again, although much had been saved."""
        return self.after >= self.total and self.saved >= self.margin

    def __str__(self) -> str:
        return f"{self.repeated:,} of {self.total:,} {self.unit}"


def work_of(training: TrainingRequest, reference: Trial, course: TrialCourse) -> Work | None:
    """Return the work of a job that was interrupted once, in the first unit that there are enough of."""
    if course.count != 1 or len(course.trials) != 2:
        return None
    first, second = (trial.timeline for trial in course.trials)
    for unit, positions in (*_of_metrics(training, reference), ("lines of the log", _lines)):
        total = len(positions(reference.timeline))
        if total >= _FEWEST:
            before = first.writes
            saved = sum(line < before[-1].lines for line in positions(first)) if before else 0
            return Work(unit=unit, total=total, done=len(positions(first)), saved=saved, after=len(positions(second)))
    total = len(reference.timeline.writes)
    if total < _FEWEST:
        return None
    done = len(first.writes)
    return Work(
        unit="files of checkpoints", total=total, done=done, saved=done, after=len(second.writes), margin=total // 2
    )


def ignored_checkpoint(training: TrainingRequest, reference: Trial, course: TrialCourse) -> tuple[str, str] | None:
    """Return the checkpoint with which the restarted job went on, and the newest one of the same kind, if it is newer.

    The job may have removed the newer ones itself, if it thinks that they are older.
    Checkpoints of one kind have the same names but for their numbers. The values of a metric show where a job goes on.
    """
    if course.count != 1 or len(course.trials) != 2:
        return None
    first, second = (trial.timeline for trial in course.trials)
    for _, positions in _of_metrics(training, reference)[:1]:
        total, lines = len(positions(reference.timeline)), positions(first)
        start = total - len(positions(second))
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
            if total >= _FEWEST and unit > 0 and abs(unit - start) <= 1 and len(newer) > 1:
                return path, max(newer, key=lambda name: units[name])
    return None


def is_long_enough(training: TrainingRequest, reference: Trial) -> bool:
    """Return whether a run logs so much that it would have had something to save."""
    counts = [len(positions(reference.timeline)) for _, positions in _of_metrics(training, reference)]
    return max(counts or [len(reference.timeline.lines)]) >= _FEWEST


def units_before_the_first_checkpoint(training: TrainingRequest, reference: Trial) -> Work | None:
    """Return how many values of a metric a run logs before its first checkpoint, if there are enough of them."""
    for unit, positions in _of_metrics(training, reference):
        found = positions(reference.timeline)
        if len(found) >= _FEWEST and reference.timeline.writes:
            done = sum(line < reference.timeline.writes[0].lines for line in found)
            return Work(unit=unit, total=len(found), done=done, saved=0, after=0)
    return None


def _lines(timeline: Timeline) -> Sequence[int]:
    return range(len(timeline.lines))


def _of_metrics(training: TrainingRequest, reference: Trial) -> list[tuple[str, Callable[[Timeline], Sequence[int]]]]:
    """Return for each metric, the most frequent first, a function that finds the lines with its values."""
    counted = [metric for metric in reference.summary.metrics if metric.is_whole and metric.matches]
    if len(counted) != len(reference.summary.metrics) and any(not each.is_whole for each in reference.summary.metrics):
        return []  # some expression takes too long
    patterns = {
        str(one.get("Name")): str(one.get("Regex")) for one in training.metric_definitions if isinstance(one, dict)
    }
    found: list[tuple[str, Callable[[Timeline], Sequence[int]]]] = []
    for metric in sorted(counted, key=lambda metric: -metric.matches):
        pattern = re.compile(patterns[metric.name])

        def positions(timeline: Timeline, pattern: re.Pattern[str] = pattern) -> Sequence[int]:
            return [index for index, line in enumerate(timeline.lines) if pattern.search(line.text[:_LONGEST_LINE])]

        found.append((f"values of `{metric.name}`", positions))
    return found


def rehearse_progress(rehearsal: Rehearsal) -> PromiseOutcome:
    """The job continues after an interruption: it writes checkpoints in time, and reads them."""
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
