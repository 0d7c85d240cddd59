"""What a local run is asked to do, how it went, and what it may say it through."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from smspec.diagnostics import Finding
from smspec.local.feeder.injection import Injection

GRACE_SECONDS = 120.0
"""StopTrainingJob sends SIGTERM and, two minutes later, SIGKILL (developer guide)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """``directory`` is where the run leaves everything; ``tree_dir`` has the files of a build of the same plan.

    ``base_dir`` is the directory of the spec: ``local`` of a channel is relative to it. ``data`` replaces ``local``,
    channel → path relative to the current directory. ``hosts`` None: as many as the spec says. ``python`` None: the
    first ``python3`` on PATH. ``rate``: bytes a second of each Pipe channel on each host; ``injection``: what
    goes wrong with them on purpose.
    """

    directory: str
    tree_dir: str
    base_dir: str
    python: str | None = None
    hosts: int | None = None
    data: dict[str, str] = field(default_factory=dict)
    rate: int | None = None
    injection: Injection | None = None
    grace: float = GRACE_SECONDS


JobStatus = Literal["Completed", "Failed", "Stopped", "NotStarted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOutcome:
    """How a run went. ``exit_status`` is that of the command: 0, 1, 2, 3, or 128 + the signal that stopped it.

    ``job_status`` is the exit status of the job itself: of the first host that failed. ``findings`` are about the spec
    and have not been shown; everything else has been said already.
    """

    exit_status: int
    status: JobStatus
    job_status: int | None = None
    failure_reason: str = ""
    findings: tuple[Finding, ...] = ()


class Console(Protocol):
    """What a run speaks through: results to one stream, everything else to the other."""

    @property
    def err_is_terminal(self) -> bool:
        """Whether what `write` writes can be overwritten."""

    def result(self, text: str) -> None:
        """Write a result."""

    def write(self, text: str) -> None:
        """Write what is not a result."""


class Unable(Exception):
    """The run cannot begin or go on. ``exit_status``: 1 the spec, 2 misuse, 3 the surroundings."""

    def __init__(self, exit_status: int, message: str) -> None:
        super().__init__(message)
        self.exit_status = exit_status


class Interrupted(BaseException):
    """A signal asks us to stop. Not an Exception, like KeyboardInterrupt, so that nothing on the way swallows it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
