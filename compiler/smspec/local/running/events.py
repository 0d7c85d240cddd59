"""The events of a run, reported as they happen: to the progress bar, the summary, and other listeners."""

from __future__ import annotations

from typing import Protocol, Union

from smspec.local.watch.host_log import LogText
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelLaid:
    """A File or FastFile channel of a host has ``size`` bytes, of ``total`` if that is known, or is complete."""

    host: str
    channel: str
    mode: str
    size: int
    total: int | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochFed:
    """An epoch of a Pipe channel has reached ``size`` bytes, of ``total`` if that is known.

    ``moment``: the time of the monotonic clock.
    """

    host: str
    channel: str
    epoch: int
    size: int
    total: int | None
    seconds: float
    moment: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochEnded:
    """An epoch of a Pipe channel is over; ``early``: the job closed it before its end."""

    host: str
    channel: str
    epoch: int
    size: int
    seconds: float
    early: bool
    moment: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultInjected:
    """A fault was injected into an epoch after ``size`` bytes; ``kind`` names a member of Injection."""

    host: str
    channel: str
    epoch: int
    size: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessKilled:
    """A process of a host was killed on purpose. ``kind``: one of those in `process_killing`."""

    host: str
    kind: str
    command: str
    moment: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLines:
    """A host has written lines to one of its streams."""

    host: str
    text: LogText


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEnded:
    """The process of a host has ended. ``cpu_seconds`` of all its processes, ``peak_memory``, the bytes of its largest
    one, and ``total_memory``, the most that all used together, are None if they were not measured.
    """

    host: str
    exit_status: int
    seconds: float
    cpu_seconds: float | None = None
    peak_memory: int | None = None
    total_memory: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointChanged:
    """A file below the checkpoint directory of a host was ``written``, ``renamed`` from ``source``, or ``removed``.

    ``path`` and ``source`` are relative to that directory; ``moment``: the time of the monotonic clock.
    """

    host: str
    path: str
    kind: str
    source: str | None
    moment: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsInterrupted:
    """All hosts were interrupted on purpose; ``moment``: the time of the monotonic clock."""

    is_loss: bool
    moment: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A message of smspec itself. ``warning``: a risk."""

    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagesDownloaded:
    """Of the packages of a job that are installed, ``size`` bytes of ``total`` are here."""

    size: int
    total: int


Event = Union[
    ChannelLaid,
    EpochFed,
    EpochEnded,
    FaultInjected,
    ProcessKilled,
    LogLines,
    HostEnded,
    CheckpointChanged,
    HostsInterrupted,
    PackagesDownloaded,
    Remark,
]


class Reporter(Protocol):
    """Listens to a run."""

    def report(self, event: Event) -> None:
        """Handle an event."""

    def tick(self) -> None:
        """Draw if necessary; called several times per second."""
