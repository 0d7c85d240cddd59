"""The request for a local run with its disturbances on purpose, its outcome, and what it shares with its command.

That is the console for messages, and what asks to end: a signal raises between steps, and is noted while the job runs.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import FrameType, TracebackType
from typing import Literal, Protocol

from smspec.diagnostics import Finding
from smspec.local.feeder.plan import Injection
from smspec.plan import NeededEnvironment
from smspec.script.program import FileUse
from smspec.source.frozen import dataclass, field
from smspec.workspace.deferred_signals import STOP_REQUESTS, STOPPING

EventKind = Literal["start", "line", "checkpoint"]
"""What a moment counts: nothing but the start of the hosts, lines of their logs, changes of their checkpoints."""

GRACE_SECONDS = 120.0
"""StopTrainingJob sends SIGTERM and, two minutes later, SIGKILL (developer guide)."""

JobStatus = Literal["Completed", "Failed", "Stopped", "NotStarted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """``delay`` seconds after the ``count``-th event of a kind; the events of all hosts count together."""

    after: EventKind
    count: int = 0
    delay: float = 0.0

    def __str__(self) -> str:
        what = {
            "start": "the start",
            "line": f"line {self.count} of the log",
            "checkpoint": f"change {self.count} of the checkpoints",
        }[self.after]
        return f"{self.delay:.2g} s after {what}" if self.delay else f"after {what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """``is_loss``: every process ends at once, as when hosts are lost; else each host gets SIGTERM, then ``grace``."""

    moment: Moment
    grace: float
    is_loss: bool = False

    def __str__(self) -> str:
        return f"{'SIGKILL' if self.is_loss else 'SIGTERM'} {self.moment}"


class InterruptionClock:
    """Counts the events of a run, and says when an interruption is due."""

    def __init__(self, interruption: Interruption) -> None:
        self._moment = interruption.moment
        self._count = 0
        self._due_at: float | None = None

    def happened(self, kind: EventKind, now: float) -> None:
        """Count an event."""
        if kind == self._moment.after and self._due_at is None:
            self._count += 1
            if self._count >= self._moment.count:
                self._due_at = now + self._moment.delay

    def seconds_left(self, now: float) -> float | None:
        """Return the seconds until the interruption is due, 0 or less if it is; None as long as they are unknown."""
        return None if self._due_at is None else self._due_at - now


@dataclass(frozen=True, slots=True, kw_only=True)
class SurroundingFaults:
    """Faults of what surrounds the hosts, which test how a job handles them.

    ``absent``: a host that never starts, although the others know it.

    ``room``: the bytes that a host can write to its model, output, and checkpoints. ``protects_model``: its model
    directory is read-only. ``kill_after``: the seconds after which a training process of the last host gets SIGKILL,
    a third of an undisturbed run; ``kills_rank``: only one that a launcher has started. ``variables`` replace those of
    the hosts. ``limit``: the seconds after which the run is stopped.
    """

    absent: str | None = None
    room: int | None = None
    protects_model: bool = False
    kill_after: float | None = None
    kills_rank: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    limit: float | None = None


NO_FAULTS = SurroundingFaults()


def _ignored(_done: int, _whole: int) -> None:
    """Show nothing."""


@dataclass(frozen=True, slots=True)
class GitCommit:
    """The commit that a spec is in. ``is_dirty``: a run may contain what the commit does not."""

    name: str
    is_dirty: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """``directory`` is where the run writes everything; ``scratch_dir`` is removed when the command ends.

    ``base_dir`` is the directory of the spec: ``local`` of a channel is relative to it. ``data`` replaces ``local``,
    channel → path relative to the current directory. ``hosts`` None: as many as in the spec. ``python`` None: one with
    the version of the image and the packages of the spec; ``may_install``: they may be installed for that;
    ``fetches_python``: so may this Python. ``rate``: bytes per second of each Pipe channel on each host; ``injection``:
    the faults to inject into them; ``faults``: those of what surrounds the hosts. ``outside``: paths of the container
    that the script certainly uses, unless that is allowed. ``command`` is the one that messages name.
    ``requirements``: the content of the author's requirements file; ``startup``: what the lock has of that in the
    source.
    ``memory``: the bytes that each host has, or ``auto`` for those of its instance type; None does not limit them.
    ``engine``: a name, or ``auto``; ``is_strict``: do not run if it differs from SageMaker in what concerns the job.
    ``verbosity``: -1 shows warnings only, 1 also the measurements of the runtime and times. ``prints_json``: the result
    is the text of summary.json.
    ``reaches_loopback``: hosts with a network of their own can connect to this machine.
    ``interruption`` ends all hosts on purpose; ``checkpoints``: a directory, the content of the checkpoint directory of
    every host at its start; ``is_watched``: report changes of the checkpoints while the hosts run. ``built``: the
    directory with a build of the same plan, if it is not in ``scratch_dir``.
    ``waits``: shows what is waited for. ``downloaded`` gets the bytes of packages so far, and of all that are known.
    ``commit``: that of the spec, for the record.
    ``predicts``: predict the job in SageMaker.
    """

    directory: str
    scratch_dir: str
    base_dir: str
    commit: GitCommit | None = None
    python: str | None = None
    waits: Callable[[str], AbstractContextManager[object]] = nullcontext
    may_install: bool = True
    fetches_python: bool = False
    command: str = "smspec run"
    outside: tuple[FileUse, ...] = ()
    hosts: int | None = None
    data: dict[str, str] = field(default_factory=dict)
    rate: int | None = None
    injection: Injection | None = None
    faults: SurroundingFaults | None = None
    grace: float = GRACE_SECONDS
    requirements: bytes | None = None
    memory: int | Literal["auto"] | None = None
    engine: str = "auto"
    is_strict: bool = False
    reaches_loopback: bool = False
    startup: NeededEnvironment | None = None
    verbosity: int = 0
    prints_json: bool = False
    interruption: Interruption | None = None
    checkpoints: str | None = None
    is_watched: bool = False
    built: str | None = None
    predicts: bool = False
    downloaded: Callable[[int, int], None] = _ignored

    @property
    def tree_dir(self) -> str:
        """The directory with a build of the same plan."""
        return self.built or os.path.join(os.path.abspath(self.scratch_dir), "tree")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOutcome:
    """The outcome of a run. ``exit_status`` is that of the command: 0, 1, 2, 3, or 128 + the signal that stopped it.

    ``job_status`` is the exit status of the job itself: of the first host that failed. ``findings`` are about the spec
    and have not been shown; everything else has.
    """

    exit_status: int
    status: JobStatus
    job_status: int | None = None
    failure_reason: str = ""
    findings: tuple[Finding, ...] = ()


class RunConsole(Protocol):
    """The output of a run: results to one stream, everything else to the other."""

    @property
    def err_is_terminal(self) -> bool:
        """Whether `paint` writes to a terminal, where text can be overwritten."""

    @property
    def err_in_colour(self) -> bool:
        """Whether `paint` may use colors."""

    def result(self, text: str, *, has_verdict: bool = False) -> None:
        """Write a result. ``has_verdict``: it says what became of the job, which has colors on a terminal."""

    def write(self, text: str) -> None:
        """Write what is not a result."""

    def paint(self, text: str) -> None:
        """Write text with colors, or that moves the cursor."""


class RunFailed(Exception):
    """The run cannot start or continue. ``exit_status``: 1 the spec, 2 the command line, 3 the environment.

    ``summary`` is the message without ``details``, such as lines of another program.
    """

    def __init__(self, exit_status: int, message: str, details: str = "") -> None:
        super().__init__(f"{message}: {details}" if details else message)
        self.exit_status = exit_status
        self.summary = message


class FaultRefused(RunFailed):
    """The engine cannot inject a fault of the surroundings here; the run has not started."""

    def __init__(self, message: str, details: str = "") -> None:
        super().__init__(3, message, details)


class RunInterrupted(BaseException):
    """A signal requests a stop. Not an Exception, like KeyboardInterrupt, so that no handler catches it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Signals:
    """In this context, a signal to stop raises `RunInterrupted`; from `note` to `interrupt` it is only recorded.
    Those that follow the first within a second are recorded too.

    ``descriptor`` becomes readable when one arrives, to wake a selector.
    """

    def __init__(self) -> None:
        self.received: list[int] = []
        self._is_noting = False

    def __enter__(self) -> Signals:
        STOP_REQUESTS.forget()
        self.descriptor, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        os.set_blocking(self.descriptor, False)
        self._old_waker = signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        # Keep ignored signals ignored: SIGHUP for nohup, and SIGINT for what a shell runs in the background.
        heeded = [number for number in STOPPING if signal.getsignal(number) != signal.SIG_IGN]
        self._old = {number: signal.signal(number, self._handle) for number in heeded}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.note()  # an exception here would keep these handlers
        for number, handler in self._old.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_waker)
        os.close(self._waker)
        os.close(self.descriptor)

    def note(self) -> None:
        """From here on, only record signals. One that came before is in `received`."""
        self._is_noting = True

    def interrupt(self) -> None:
        """From here on, raise `RunInterrupted` again."""
        self._is_noting = False

    def drain(self) -> None:
        """Reset `descriptor`."""
        try:
            os.read(self.descriptor, 64)
        except BlockingIOError:
            pass

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self.received.append(number)
        if not self._is_noting and STOP_REQUESTS.is_new():
            raise RunInterrupted(number)
