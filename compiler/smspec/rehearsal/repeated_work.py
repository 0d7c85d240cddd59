"""The work that an interrupted job repeats: steps in its log, or files of checkpoints, each with an identity.

A number of lines proves nothing: a job may log as much while it resumes as in all of its steps. A line is about the
same step as one of an undisturbed run if the numbers are equal that do not vary between runs, such as counters and, of
a job with a seed, values. A log that is only printed again takes no time, and writes no checkpoints.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from smspec.local.running.training_request import TrainingRequest
from smspec.rehearsal.trial import Line, Timeline, Trial, TrialCourse
from smspec.source.frozen import dataclass

FEWEST = 4
"""With fewer units, a job that starts from scratch looks like one that continues."""
_LONGEST_LINE = 300
_MOST_KINDS = 3
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_SHORTEST_SPAN = 0.05
_MARGIN = 2

Positions = Callable[[Timeline], Sequence[int]]
Identity = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """``total`` units of an undisturbed run, in the same ``unit`` as the others.

    ``done`` before the interruption, ``saved`` of these before the last checkpoint, ``after`` the restart.
    ``is_from_scratch``: the restarted job certainly did everything again, although much had been saved.
    """

    unit: str
    total: int
    done: int
    saved: int
    after: int
    is_from_scratch: bool = False

    @property
    def repeated(self) -> int:
        """How many units were done twice."""
        return max(0, self.done + self.after - self.total)

    def __str__(self) -> str:
        return f"{self.repeated:,} of {self.total:,} {self.unit}"


def work_of(training: TrainingRequest, reference: Trial, course: TrialCourse) -> Work | None:
    """Return the work of a job that was interrupted once, in the first unit that there are enough of."""
    if course.count != 1 or len(course.trials) != 2:
        return None
    whole = reference.timeline
    first, second = (trial.timeline for trial in course.trials)
    for unit, positions in (*of_metrics(training, reference), *_of_steps(reference)):
        total, after = len(positions(whole)), len(positions(second))
        known = _Identities(positions, whole, first)
        if total < FEWEST or (not known.are_distinct and after >= total):
            continue
        before = first.writes
        saved = sum(line < before[-1].lines for line in positions(first)) if before else 0
        is_again = after >= total and saved >= _MARGIN and known.begin_again(second, saved)
        is_from_scratch = is_again and _takes_time(positions, whole, second) and not _saves_less(whole, second)
        if after >= total and saved >= _MARGIN and not is_from_scratch:
            return None  # it prints its steps again, or counts them differently after the restart
        return Work(
            unit=unit,
            total=total,
            done=len(positions(first)),
            saved=saved,
            after=after,
            is_from_scratch=is_from_scratch,
        )
    return _of_files(whole, first, second)


def _of_files(whole: Timeline, first: Timeline, second: Timeline) -> Work | None:
    written = [_saved_files(timeline) for timeline in (whole, first, second)]
    total, done, after = map(len, written)
    if total < FEWEST:
        return None
    names = [Counter(paths) for paths in written]
    is_again = after >= total and done >= total // 2 and not names[1] - names[2]
    is_from_scratch = is_again and _takes_as_long(
        *([change.seconds for change in timeline.writes] for timeline in (whole, second))
    )
    if after >= total and not is_from_scratch:
        return None
    return Work(
        unit="files of checkpoints", total=total, done=done, saved=done, after=after, is_from_scratch=is_from_scratch
    )


def _saved_files(timeline: Timeline) -> list[str]:
    """Return the files that a run saved, each time once: a file that is renamed later has a temporary name."""
    temporary = {change.source for change in timeline.changes}
    return [change.path for change in timeline.writes if change.path not in temporary]


def first_step_of(positions: Positions, reference: Trial, course: TrialCourse) -> int | None:
    """Return how many units of an undisturbed run come before those with which a restarted job goes on."""
    first, second = (trial.timeline for trial in course.trials)
    known = _Identities(positions, reference.timeline, first)
    whole, rest = known.of(reference.timeline), known.of(second)
    start = len(whole) - len(rest)
    return start if known.are_distinct and rest and start >= 0 and whole[start:] == rest else None


def is_long_enough(training: TrainingRequest, reference: Trial) -> bool:
    """Return whether a run logs so many steps that it would have had something to save."""
    units = (*of_metrics(training, reference), *_of_steps(reference))
    return any(len(positions(reference.timeline)) >= FEWEST for _, positions in units)


class _Identities:
    """What the lines of an undisturbed run and of the start of an interrupted one have in common, by their kind."""

    def __init__(self, positions: Positions, whole: Timeline, first: Timeline) -> None:
        self._positions = positions
        self._varying: set[tuple[str, int]] = set()
        self._is_known = False
        ours, theirs = self._by_host(whole), self._by_host(first)
        pairs = [pair for host in ours for pair in zip(ours[host], theirs[host], strict=False)]
        for one, other in pairs:
            kind, numbers = _parts(one)
            if kind != _parts(other)[0]:
                return
            differing = (n for n, pair in enumerate(zip(numbers, _parts(other)[1], strict=True)) if pair[0] != pair[1])
            self._varying.update((kind, n) for n in differing)
        self._is_known = len(pairs) >= _MARGIN
        self._lines = ours
        self._counters = {place for place in _counters(ours.values()) if place not in self._varying}
        self._whole = {host: [self._of_line(line) for line in lines] for host, lines in ours.items()}

    @property
    def are_distinct(self) -> bool:
        """Whether the first steps of a run have identities that the later ones lack."""
        return self._is_known and all(
            len({*ids[:FEWEST]}) > 1 and ids[0] not in ids[1:] for ids in self._whole.values()
        )

    def of(self, timeline: Timeline) -> list[Identity]:
        """Return the identities of all units of a run, host after host."""
        return [self._of_line(line) for _, lines in sorted(self._by_host(timeline).items()) for line in lines]

    def begin_again(self, second: Timeline, saved: int) -> bool:
        """Return whether a run begins with the first units, which were saved."""
        found = self._by_host(second)
        count = max(_MARGIN, saved // max(1, len(self._whole)))
        return self.are_distinct and all(
            [self._of_line(line) for line in found[host][:count]] == ids[:count]
            or (
                bool(self._counters)
                and [self._counted(line) for line in found[host][:count]]
                == [self._counted(line) for line in self._lines[host][:count]]
            )
            for host, ids in self._whole.items()
        )

    def _counted(self, line: Line) -> Identity:
        """Return the counters of a line: the same step may have another value in another run."""
        kind, numbers = _parts(line)
        return (kind, *(number for n, number in enumerate(numbers) if (kind, n) in self._counters))

    def _of_line(self, line: Line) -> Identity:
        kind, numbers = _parts(line)
        return (kind, *(number for n, number in enumerate(numbers) if (kind, n) not in self._varying))

    def _by_host(self, timeline: Timeline) -> defaultdict[str, list[Line]]:
        found: defaultdict[str, list[Line]] = defaultdict(list)
        for position in self._positions(timeline):
            found[timeline.lines[position].host].append(timeline.lines[position])
        return found


def _counters(hosts: Iterable[list[Line]]) -> set[tuple[str, int]]:
    """Return the numbers, by the kind of their lines, that count up by the same whole number on every host."""
    columns: defaultdict[tuple[str, int], list[list[str]]] = defaultdict(list)
    for lines in hosts:
        kinds: defaultdict[str, list[list[str]]] = defaultdict(list)
        for kind, numbers in map(_parts, lines):
            kinds[kind].append(numbers)
        for kind, rows in kinds.items():
            for n, column in enumerate(zip(*rows, strict=True)):
                columns[kind, n].append([*column])
    return {place for place, found in columns.items() if all(map(_counts_up, found))}


def _counts_up(column: list[str]) -> bool:
    if len(column) < FEWEST or not all(number.isdecimal() for number in column):
        return False
    steps = {int(two) - int(one) for one, two in itertools.pairwise(column)}
    return len(steps) == 1 and steps.pop() > 0


def _parts(line: Line) -> tuple[str, list[str]]:
    """Return a line without its numbers, and these."""
    text = line.text[:_LONGEST_LINE]
    return _NUMBER.sub("#", text), _NUMBER.findall(text)


def _span(seconds: Sequence[float]) -> float:
    return max(seconds) - min(seconds) if seconds else 0.0


def _takes_time(positions: Positions, whole: Timeline, second: Timeline) -> bool:
    """Return whether units are done again, and not only printed."""
    return _takes_as_long(
        *([timeline.lines[position].seconds for position in positions(timeline)] for timeline in (whole, second))
    )


def _takes_as_long(whole: Sequence[float], second: Sequence[float]) -> bool:
    """Return whether what happened at these moments of a second run took about as long as in the whole one."""
    span = _span(whole)
    return span < _SHORTEST_SPAN or _span(second) >= span / 2


def _saves_less(whole: Timeline, second: Timeline) -> bool:
    """Return whether a restarted job writes clearly fewer checkpoints than an undisturbed one."""
    return len(whole.writes) >= FEWEST and len(second.writes) < 0.75 * len(whole.writes)


def _of_steps(reference: Trial) -> Iterator[tuple[str, Positions]]:
    """Yield the kinds of lines that count steps, for a job without metrics: those of which there are most, first."""
    kinds = Counter(_parts(line)[0] for line in reference.timeline.lines)
    for kind, count in kinds.most_common(_MOST_KINDS):
        if count >= FEWEST and "#" in kind:

            def positions(timeline: Timeline, kind: str = kind) -> Sequence[int]:
                return [index for index, line in enumerate(timeline.lines) if _parts(line)[0] == kind]

            yield "steps in the log", positions


def of_metrics(training: TrainingRequest, reference: Trial) -> list[tuple[str, Positions]]:
    """Return for each metric, the most frequent first, a function that finds the lines with its values."""
    counted = [metric for metric in reference.summary.metrics if metric.is_whole and metric.matches]
    if len(counted) != len(reference.summary.metrics) and any(not each.is_whole for each in reference.summary.metrics):
        return []  # some expression takes too long
    patterns = {
        str(one.get("Name")): str(one.get("Regex")) for one in training.metric_definitions if isinstance(one, dict)
    }
    found: list[tuple[str, Positions]] = []
    for metric in sorted(counted, key=lambda metric: -metric.matches):
        pattern = re.compile(patterns[metric.name])

        def positions(timeline: Timeline, pattern: re.Pattern[str] = pattern) -> Sequence[int]:
            return [index for index, line in enumerate(timeline.lines) if pattern.search(line.text[:_LONGEST_LINE])]

        found.append((f"values of `{metric.name}`", positions))
    return found
