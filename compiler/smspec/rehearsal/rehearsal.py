"""The rehearsal of one job: runs it as often as its promises need, each time from the beginning."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from smspec.diagnostics import Finding
from smspec.diagnostics.quoting import visible
from smspec.local.engines.choice import chosen_engine
from smspec.local.python.environment import EnvironmentCache
from smspec.local.record.progress import Progress
from smspec.local.record.summary import RunRecord
from smspec.local.running.events import Event, Remark
from smspec.local.running.local_run import Audience, LocalRun
from smspec.local.running.request import Interruption, RunConsole, RunInterrupted, RunRequest, Signals
from smspec.local.running.run_directory import TRIALS
from smspec.local.running.training_request import TrainingRequest
from smspec.local.watch.host_log import redactor
from smspec.plan import Plan
from smspec.rehearsal.trial import Timeline, Trial, TrialCourse, checkpoints_left
from smspec.render.tree import FileTree
from smspec.source.frozen import dataclass, replace
from smspec.source.real_file import remove_tree
from smspec.spec.model import JobSpec


class RehearsalRefused(Exception):
    """The job cannot be run because of the spec."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__(findings)
        self.findings = findings


class UndisturbedFailed(Exception):
    """The job fails without any disturbance, so nothing can be said about disturbances."""

    def __init__(self, trial: Trial) -> None:
        super().__init__(trial.summary.failure_reason)
        self.trial = trial


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsedJob:
    """The job, how it is run, and the seed of what is drawn. ``request.directory`` is that of the rehearsal.

    ``patience``: how many seconds longer than undisturbed a job may run before it counts as one that hangs.
    """

    job: JobSpec
    plan: Plan
    tree: FileTree
    request: RunRequest
    seed: int
    patience: float = 60.0


class Rehearsal:
    """Runs the job. Every run has a directory of its own, and nothing of another run but what is passed on."""

    def __init__(
        self, rehearsed: RehearsedJob, console: RunConsole, directory: str, signals: Signals, cache: EnvironmentCache
    ) -> None:
        self.job = rehearsed.job
        self.plan = rehearsed.plan
        self.request = rehearsed.request
        self.seed = rehearsed.seed
        self.patience = rehearsed.patience
        self.training = TrainingRequest(rehearsed.plan.request.payload)
        run = rehearsed.plan.run
        arguments = [] if run is None else [*run.command, *run.arguments]
        self.hide = redactor(self.training, os.environ, arguments, rehearsed.job.secrets)
        """Masks the secrets of the job in a text."""
        self._tree = rehearsed.tree
        self._console = console
        self._directory = directory
        self._signals = signals
        self._cache = cache
        self.unsteady: set[str] = set()
        """Files and metrics that differed after a disturbance, and did not when it was repeated."""
        self._undisturbed: list[Trial] = []
        self._courses: dict[str, TrialCourse] = {}
        self._count = 0
        self.awaited: set[str] = set()
        """Trials that a later promise looks at: their directories stay until then."""
        self.shown: set[str] = set()
        """Trials that broke a promise."""

    @property
    def checkpoints(self) -> str | None:
        """The checkpoint directory of the job, relative to the root of a host."""
        return self.training.checkpoint_place or None

    @property
    def tolerance(self) -> float | None:
        """By how much numbers may differ after an interruption; None: not at all."""
        return None if self.job.rehearsal is None else self.job.rehearsal.tolerance

    @property
    def engine(self) -> str:
        """The name of the engine that runs the job. Raise RunFailed if it is not available."""
        return chosen_engine(self.request.engine)[0]

    @property
    def run_count(self) -> int:
        """How often the hosts were started so far."""
        return self._count

    def show(self, text: str) -> None:
        """Write a line of progress."""
        if self.request.verbosity >= 0:
            self._console.write(f"{visible(text)}\n")

    def undisturbed(self, count: int = 1) -> tuple[Trial, ...]:
        """Return undisturbed runs of the job; they are made once. Raise UndisturbedFailed if one fails."""
        while len(self._undisturbed) < count:
            number = len(self._undisturbed) + 1
            self.show(f"undisturbed run {number}")
            trial = self.run(f"undisturbed-{number}")
            if not trial.completed:
                raise UndisturbedFailed(trial)
            self._undisturbed.append(trial)
        return tuple(self._undisturbed[:count])

    @property
    def references(self) -> tuple[Trial, ...]:
        """The undisturbed runs so far."""
        return tuple(self._undisturbed)

    def run(self, name: str, **changes: Any) -> Trial:
        """Run the job once, with changes of its request. Raise RunFailed, RunInterrupted, JobRefused, or OSError."""
        self._count += 1
        scratch = os.path.join(self.request.scratch_dir, f"t{self._count}")
        os.makedirs(scratch)
        request = replace(
            self.request,
            directory=self.path(name),
            scratch_dir=scratch,
            built=self.request.tree_dir,
            is_watched=self.checkpoints is not None,
            grace=0.0,  # of Ctrl-C: a rehearsal has nothing to save
            **changes,
        )
        timeline = Timeline()
        record = RunRecord(hide=self.hide)
        shown = Progress(self._console) if request.verbosity > 0 else _Preamble(self, is_first=self._count == 1)
        try:
            audience = Audience(timeline, record, shown)
            run = LocalRun(self.job, self.plan, self._tree, request, audience, self._signals, self._cache)
            if run.findings:
                raise RehearsalRefused(tuple(run.findings))
            summary, _ = run.through(record)
        finally:
            if isinstance(shown, Progress):
                shown.close()
            remove_tree(scratch, ignore_errors=True)
        if self._signals.received:
            raise RunInterrupted(self._signals.received[0])
        hosts = tuple(host.host for host in summary.hosts)
        trial = Trial(
            name=name,
            directory=request.directory,
            summary=summary,
            timeline=timeline,
            hosts=hosts,
            checkpoints=self.checkpoints,
        )
        for path in trial.spare:
            # A script may have put a link there.
            if os.path.realpath(path) == os.path.abspath(path):
                remove_tree(path, ignore_errors=True)
        return trial

    def course(self, name: str, interruptions: tuple[Interruption, ...]) -> TrialCourse:
        """Run the job, interrupt it, and start it again with its checkpoints and nothing else, until it completes."""
        if name in self._courses:
            return self._courses[name]
        trials: list[Trial] = []
        passed_on: list[int] = []
        checkpoints: str | None = None
        for number, interruption in enumerate([*interruptions, None], 1):
            trials.append(self.run(f"{name}/start-{number}", interruption=interruption, checkpoints=checkpoints))
            if not trials[-1].was_interrupted:
                break
            checkpoints = self.path(name, f"checkpoints-{number}")
            passed_on.append(checkpoints_left(trials[-1], checkpoints))
        self._courses[name] = TrialCourse(
            name=name, interruptions=interruptions, trials=tuple(trials), passed_on=tuple(passed_on)
        )
        return self._courses[name]

    def has_course(self, name: str) -> bool:
        """Return whether this interrupted job has been run."""
        return name in self._courses

    def path(self, name: str, *below: str) -> str:
        """Return a path in the directory of a trial, or of several with the same beginning of their names."""
        return os.path.join(self._directory, TRIALS, name, *below)

    def discard(self, name: str) -> None:
        """Remove the directory of a trial that has nothing to show."""
        with suppress(OSError):
            if name not in self.awaited:
                remove_tree(self.path(name))


class _Preamble:
    """Shows how the first run is prepared, such as its engine; the script's own lines are in its log."""

    def __init__(self, rehearsal: Rehearsal, *, is_first: bool) -> None:
        self._rehearsal = rehearsal
        self._is_first = is_first

    def report(self, event: Event) -> None:
        if self._is_first and isinstance(event, Remark) and not event.warning:
            self._rehearsal.show(event.text)

    def tick(self) -> None:
        """Do nothing: lines are shown as they come."""
