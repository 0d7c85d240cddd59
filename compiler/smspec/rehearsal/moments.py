"""The moments of the interruptions: drawn over the run from a seed, one from each part of it that matters.

Events are the clock, as far as there are any: on a loaded machine a run takes longer, but the line after which a
checkpoint is written stays the same.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from typing import TypeVar

from smspec.local.running.request import Moment
from smspec.rehearsal.trial import CheckpointChange, Timeline
from smspec.source.frozen import dataclass

_T = TypeVar("_T")

_MIDDLE = (0.3, 0.7)
"""Between two checkpoints, the part of the time in which an interruption is neither right after one nor during one."""

_BURST = 0.05
"""The part of the time in which all changes are those of a single checkpoint."""

_SOON = 0.3
"""Seconds from the last checkpoint to the end of a run that ends with it: it is over before it can be interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """One checkpoint of the undisturbed run: the numbers of its first and last change, and the changes."""

    first: int
    last: int
    changes: tuple[CheckpointChange, ...]

    @property
    def seconds(self) -> float:
        return self.changes[-1].seconds


def checkpoints_of(timeline: Timeline) -> tuple[Checkpoint, ...]:
    """Return the checkpoints of a run: changes that follow each other closely belong to one."""
    writes = timeline.writes
    if not writes:
        return ()
    gaps = [after.seconds - before.seconds for before, after in itertools.pairwise(writes)]
    # A job that takes long to import logs between its checkpoints, however close they are.
    is_burst = writes[0].lines == writes[-1].lines and sum(gaps) < _BURST * (timeline.ended_at - timeline.started_at)
    limit = math.inf if is_burst else _limit(gaps)
    groups = [[0]]
    for index, gap in enumerate(gaps, 1):
        before, change = writes[index - 1], writes[index]
        is_renamed = change.kind == "renamed" and change.source == before.path
        if not is_renamed and (gap > limit or (change.lines > before.lines and gap > limit / 4)):
            groups.append([])
        groups[-1].append(index)
    return tuple(
        Checkpoint(first=group[0] + 1, last=group[-1] + 1, changes=tuple(writes[index] for index in group))
        for group in groups
    )


def _limit(gaps: Sequence[float]) -> float:
    """Return the longest pause within a checkpoint: where the pauses have two sizes, between them."""
    positive = sorted(max(gap, 1e-5) for gap in gaps)
    if not positive or positive[-1] < 4 * positive[0]:
        return 0.0
    return math.sqrt(positive[0] * positive[-1])


class Moments:
    """Draws moments of a job from an undisturbed run."""

    def __init__(self, timeline: Timeline, seed: int) -> None:
        self._timeline = timeline
        self._checkpoints = checkpoints_of(timeline)
        self._seed = seed

    def _random(self, stratum: str) -> random.Random:
        return random.Random(f"{self._seed} {stratum}")

    def before_the_first(self) -> Moment:
        """Return a moment before the first checkpoint."""
        end = self._checkpoints[0].changes[0].seconds if self._checkpoints else self._timeline.ended_at
        return self._between(self._timeline.started_at, end, Moment(after="start"), "before the first")

    def right_after(self, turn: int = 0) -> Moment:
        """Return the end of a checkpoint that is not the last one; of each turn another one, if there are enough."""
        if not self._checkpoints:
            return self.at(0.6)
        chosen = self._drawn(self._checkpoints[:-1] or self._checkpoints, "right after", turn)
        return Moment(after="checkpoint", count=chosen.last)

    def between(self, turn: int = 0) -> Moment:
        """Return a moment between two checkpoints: in even turns after a line, in odd ones in the longest pause."""
        if len(self._checkpoints) < 2:
            return self.at(0.5 if turn % 2 else 0.7)
        return self._after_one_of([*itertools.pairwise(self._checkpoints)], turn)

    def late(self, turn: int = 0) -> Moment:
        """Return a moment between two checkpoints of the last third of a run.

        What a job has counted by then, such as the epochs without a better result, is no longer zero.
        """
        if len(self._checkpoints) < 2:
            return self.at(0.7)
        pairs = [*itertools.pairwise(self._checkpoints)]
        return self._after_one_of(pairs[len(pairs) * 2 // 3 :], turn)

    def _after_one_of(self, pairs: Sequence[tuple[Checkpoint, Checkpoint]], turn: int) -> Moment:
        before, after = self._drawn(pairs, "between", turn)
        start = Moment(after="checkpoint", count=before.last)
        begin, end = before.seconds, after.changes[0].seconds
        return self._pause(begin, end, start) if turn % 2 else self._between(begin, end, start, f"line {turn}")

    def after_the_last(self) -> Moment:
        """Return a moment after the last checkpoint of a job that does not end with it."""
        if not self._checkpoints:
            return self.at(0.9)
        last = self._checkpoints[-1]
        start = Moment(after="checkpoint", count=last.last)
        if self._timeline.ended_at - last.seconds < _SOON:
            return start
        return self._between(last.seconds, self._timeline.ended_at, start, "after the last")

    def at(self, part: float) -> Moment:
        """Return a moment when about this part of the run is over: after a line, if there are lines all the time."""
        seconds = self._timeline.started_at + part * (self._timeline.ended_at - self._timeline.started_at)
        count = sum(line.seconds <= seconds for line in self._timeline.lines)
        near = count and seconds - self._timeline.lines[count - 1].seconds < 0.2 * (seconds - self._timeline.started_at)
        if near:
            return Moment(after="line", count=count)
        return Moment(after="start", delay=round(seconds - self._timeline.started_at, 2))

    def soon_after_restart(self, turn: int = 0) -> Moment:
        """Return a moment of a run that has just been restarted: its first checkpoint, or one of its first lines."""
        first = self._checkpoints[:1]
        # The first line is that of the runtime.
        lines = [Moment(after="line", count=count) for count in (2, 3, 4)] if self._timeline.lines else [self.at(0.2)]
        if not first:
            return self._drawn(lines, "soon", turn)
        written = Moment(after="checkpoint", count=first[0].last - first[0].first + 1)
        return written if turn % 2 == 0 else self._drawn(lines, "soon", turn)

    def _drawn(self, items: Sequence[_T], stratum: str, turn: int) -> _T:
        """Return an item; all turns together take each one once before they begin again."""
        return self._random(stratum).sample(items, len(items))[turn % len(items)]

    def _pause(self, start: float, end: float, event: Moment) -> Moment:
        """Return a moment in the longest pause of a part of the time, after the event before it."""
        events = [(start, event)]
        for count, line in enumerate(self._timeline.lines, 1):
            if start < line.seconds < end:
                events.append((line.seconds, Moment(after="line", count=count)))
        times = [*(seconds for seconds, _ in events), end]
        length, index = max((after - before, index) for index, (before, after) in enumerate(itertools.pairwise(times)))
        low, high = _MIDDLE
        part = low + (high - low) * self._random("pause").random()
        moment = events[index][1]
        return Moment(after=moment.after, count=moment.count, delay=round(length * part, 3))

    def _between(self, start: float, end: float, event: Moment, stratum: str) -> Moment:
        """Return the line of the log that ends a part of the time, or a delay after the event before it."""
        chosen = self._random(stratum)
        lines = [index for index, line in enumerate(self._timeline.lines, 1) if start < line.seconds < end]
        inner = lines[:-1] if len(lines) > 2 else lines
        if inner:
            return Moment(after="line", count=chosen.choice(inner))
        low, high = _MIDDLE
        return Moment(
            after=event.after, count=event.count, delay=round((end - start) * (low + (high - low) * chosen.random()), 3)
        )
