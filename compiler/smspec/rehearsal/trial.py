"""One run of the job in a rehearsal, undisturbed or with one disturbance; what happened in it, and when.

A job that is interrupted and starts again has several runs: its course, and what passes from one to the next.
"""

from __future__ import annotations

import os
import time

from smspec.local.record.summary import Summary
from smspec.local.running.events import CheckpointChanged, Event, HostEnded, HostsInterrupted, LogLines, ProcessKilled
from smspec.local.running.request import Interruption
from smspec.local.running.run_directory import HOSTS, LOGS
from smspec.source.frozen import dataclass
from smspec.source.real_file import copy_files, files_below

_MOST_LINES = 1_000_000
_LONGEST_LINE = 1_000

_SPARE = (("opt", "ml", "input", "data"), ("opt", "ml", "code"), ("opt", "smspec"), ("usr", "local"))
"""What a host's directory contains in addition to what the job wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a log; ``seconds`` on the clock of its timeline."""

    seconds: float
    host: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointChange:
    """A file among the checkpoints of a host was ``written``, ``renamed`` from ``source``, or ``removed``.

    ``lines``: how many lines the logs had before it.
    """

    seconds: float
    host: str
    path: str
    kind: str
    source: str | None
    lines: int


class Timeline:
    """Listens to a run and keeps the order of events. It is complete when the run has ended."""

    def __init__(self) -> None:
        self._origin = time.monotonic()
        self.lines: list[Line] = []
        self.changes: list[CheckpointChange] = []
        self.killed: list[ProcessKilled] = []
        self.interrupted_at: float | None = None
        self.started_at = 0.0
        self.ended_at = 0.0

    def tick(self) -> None:
        """Do nothing: a timeline draws nothing."""

    def report(self, event: Event) -> None:
        """Keep an event."""
        now = time.monotonic() - self._origin
        if isinstance(event, LogLines):
            left = _MOST_LINES - len(self.lines)
            if left > 0:
                shown = event.text.lines[:left]
                self.lines += [Line(seconds=now, host=event.host, text=line[:_LONGEST_LINE]) for line in shown]
        elif isinstance(event, CheckpointChanged):
            change = CheckpointChange(
                seconds=event.moment - self._origin,
                host=event.host,
                path=event.path,
                kind=event.kind,
                source=event.source,
                lines=len(self.lines),
            )
            self.changes.append(change)
        elif isinstance(event, ProcessKilled):
            self.killed.append(event)
        elif isinstance(event, HostsInterrupted):
            self.interrupted_at = event.moment - self._origin
        elif isinstance(event, HostEnded):
            self.started_at = min(now - event.seconds, self.started_at or now)
            self.ended_at = now

    @property
    def writes(self) -> list[CheckpointChange]:
        """The changes that a moment counts: everything but removals."""
        return [change for change in self.changes if change.kind != "removed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """``directory`` has the logs, and below ``hosts`` what each host wrote. ``checkpoints``: below its root, if any."""

    name: str
    directory: str
    summary: Summary
    timeline: Timeline
    hosts: tuple[str, ...]
    checkpoints: str | None

    @property
    def completed(self) -> bool:
        return self.summary.status == "Completed"

    @property
    def model_files(self) -> int:
        """How many files the hosts had in their model directories when the run ended."""
        return 0 if self.summary.model is None else self.summary.model.files

    @property
    def was_interrupted(self) -> bool:
        """Whether the interruption came; a run may end before."""
        return self.timeline.interrupted_at is not None

    @property
    def seconds(self) -> float:
        """How long the hosts ran."""
        return self.timeline.ended_at - self.timeline.started_at

    @property
    def seconds_to_end(self) -> float:
        """How long the hosts went on after the interruption."""
        return self.timeline.ended_at - (self.timeline.interrupted_at or 0.0)

    def root(self, host: str) -> str:
        return os.path.join(self.directory, HOSTS, host)

    def is_real(self, directory: str) -> bool:
        """Return whether a directory of a host is there, and the script has put no link on the way to it."""
        place = os.path.realpath(self.directory) + directory.removeprefix(self.directory)
        return os.path.isdir(directory) and os.path.realpath(directory) == os.path.normpath(place)

    def model_directory(self, host: str) -> str:
        return os.path.join(self.root(host), "opt", "ml", "model")

    def checkpoint_directory(self, host: str) -> str | None:
        return None if self.checkpoints is None else os.path.join(self.root(host), self.checkpoints)

    def log(self, host: str) -> str:
        return os.path.join(self.directory, LOGS, f"{host}.log")

    @property
    def last_log(self) -> str:
        """The log of the host that failed, else of the first one."""
        return self.log(self.summary.failed or self.hosts[0])

    @property
    def spare(self) -> list[str]:
        """The directories that are not needed once the run has ended."""
        return [os.path.join(self.root(host), *names) for host in self.hosts for names in _SPARE]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCourse:
    """``trials``: one for each start of the job. There are fewer interruptions than requested if it ended before.

    ``passed_on``: how many files of checkpoints each interrupted run left.
    """

    name: str
    interruptions: tuple[Interruption, ...]
    trials: tuple[Trial, ...]
    passed_on: tuple[int, ...]

    @property
    def last(self) -> Trial:
        return self.trials[-1]

    @property
    def count(self) -> int:
        """How many interruptions came."""
        return sum(trial.was_interrupted for trial in self.trials)

    @property
    def seconds(self) -> float:
        """How long the hosts ran in all."""
        return sum(trial.seconds for trial in self.trials)

    def __str__(self) -> str:
        if not self.count:
            return f"{self.interruptions[0]}, which did not come"
        return ", then ".join(str(interruption) for interruption in self.interruptions[: self.count])


def checkpoints_left(trial: Trial, target: str) -> int:
    """Copy what the checkpoint directories of an interrupted run have, as it arrives in the next one; count the files.

    All hosts write to one prefix of S3, so of files with the same name the later one remains, and every host gets all
    of them. S3 has no empty directories. What SageMaker does with links is not documented, so they stay.
    """
    originals: dict[str, str] = {}
    for host in trial.hosts:
        root = trial.checkpoint_directory(host)
        if root is None or not trial.is_real(root):
            continue
        for name, path in files_below(root).items():
            if name not in originals or os.lstat(path).st_mtime_ns >= os.lstat(originals[name]).st_mtime_ns:
                originals[name] = path
    copy_files(originals, target)
    return len(originals)
