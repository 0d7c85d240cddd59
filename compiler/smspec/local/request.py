"""The request for a local run, its outcome, and the console for its messages."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Literal, Protocol

from smspec.diagnostics import Finding
from smspec.local.disturbances import Interruption, SurroundingFaults
from smspec.local.feeder.plan import Injection
from smspec.plan import NeededEnvironment
from smspec.script.program import FileUse
from smspec.service.job_costs import JobPrices

GRACE_SECONDS = 120.0
"""StopTrainingJob sends SIGTERM and, two minutes later, SIGKILL (developer guide)."""


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
    ``waits``: shows what is waited for.
    ``predicts``: predict the job in SageMaker from the run; ``prices``: those of its instances.
    """

    directory: str
    scratch_dir: str
    base_dir: str
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
    prices: JobPrices | None = None

    @property
    def tree_dir(self) -> str:
        """The directory with a build of the same plan."""
        return self.built or os.path.join(os.path.abspath(self.scratch_dir), "tree")


JobStatus = Literal["Completed", "Failed", "Stopped", "NotStarted"]


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


class Console(Protocol):
    """The output of a run: results to one stream, everything else to the other."""

    @property
    def err_is_terminal(self) -> bool:
        """Whether `paint` writes to a terminal, where text can be overwritten."""

    @property
    def err_in_colour(self) -> bool:
        """Whether `paint` may use colors."""

    def result(self, text: str) -> None:
        """Write a result."""

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
