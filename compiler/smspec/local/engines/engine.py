"""What an engine is: everything of a run that depends on how its hosts are started."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from smspec.local.feeder.plan import FeederPlan
from smspec.local.feeder_process import FeederProcess
from smspec.local.machine_processes import MachineProcess, Usage
from smspec.local.mounted_data import MountedChannel
from smspec.local.python.cache import EnvironmentCache
from smspec.local.request import RunRequest
from smspec.local.run_directory import HostDirectory, RunDirectory
from smspec.local.training_request import Host
from smspec.plan import Plan
from smspec.render.tree import FileTree
from smspec.spec.model import JobSpec

UPLOADS = "/opt/smspec/upload"
"""Where a host of its own root directory sees the archive of the source, if there is one."""

BY_NAME = ":"
"""The value of SMSPEC_LOCAL_LEADER that makes the runtime use the names of hosts, and the author's secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobToRun:
    """The job, its hosts, and the cache of its environments. ``why``: why not the engine that `auto` prefers."""

    job: JobSpec
    plan: Plan
    tree: FileTree
    request: RunRequest
    hosts: tuple[Host, ...]
    cache: EnvironmentCache
    why: str = ""


class RunningHost(Protocol):
    """A started host and its log. ``descriptor`` becomes readable when it has written something, or ended.

    ``usage``, of a host that has ended, is None if it was not measured. ``refusal``: why its engine could not start it.
    """

    host: str
    exit_status: int | None
    refusal: str
    usage: Usage | None
    seconds: float
    descriptor: int

    def lines(self) -> Iterator[str] | None:
        """Read the available output, which may block, append it to the log, and return its lines; None at the end."""

    def ended(self) -> bool:
        """Return whether the host has ended; `exit_status` is then 128 + n if signal n ended it."""

    def processes(self) -> Sequence[MachineProcess]:
        """Return its processes, parents first, from its first one on.

        Those of this machine only on Linux, and if they belong to your user.
        """

    def kill_process(self, number: int) -> None:
        """Kill one of its processes. Raise OSError."""

    def terminate(self) -> None:
        """Send SIGTERM to the first process, as `docker stop` does first."""

    def kill(self) -> None:
        """Kill every process of the host, as `docker stop` does last."""

    def close(self) -> Iterator[str]:
        """Close the log and yield a last line without a line feed."""


class Engine(Protocol):
    """One way to run the hosts of a job; layout, feeders, supervision, and results are the same for all.

    Its constructor raises RunFailed for a job that it cannot run. The methods are called in the order in which they
    are listed; `close` always.
    """

    @property
    def name(self) -> str:
        """Its name, as `--engine` takes it."""

    @property
    def title(self) -> str:
        """The text after ``engine: ``."""

    @property
    def why(self) -> str:
        """Why `auto` chose it, if it prefers a different engine; else empty."""

    @property
    def interface(self) -> str:
        """The network interface over which the hosts communicate, for resourceconfig.json."""

    @property
    def limits_memory(self) -> bool:
        """Whether the hosts of the engine have no more memory than `RunRequest.memory` says."""

    @property
    def mounts_data(self) -> bool:
        """Whether hosts see local files of File and FastFile channels themselves, read-only, and not copies."""

    @property
    def unconfined(self) -> list[str]:
        """Return what of this machine the started hosts can reach and a job of SageMaker cannot."""

    @property
    def differences(self) -> list[str]:
        """Return what is different from SageMaker and concerns this job; `prepare` may add to it."""

    def generated_channels(self) -> dict[str, str]:
        """Return the channels that deliver source and runtime, and the directories with their content."""

    def prepare(self, show: Callable[[str], None]) -> None:
        """Install or build what all hosts need, before anything is written. Raise RunFailed."""

    @property
    def python(self) -> str:
        """The Python that messages about missing modules name."""

    @property
    def python_version(self) -> str | None:
        """The version of the job's Python; None if only the image knows it."""

    @property
    def locked_packages(self) -> int:
        """How many packages of the job are those of the lock."""

    def hyperparameters(self, uploads: str) -> dict[str, str]:
        """Return the content of hyperparameters.json. ``uploads``: a directory for files that it names."""

    def fill(self, directory: HostDirectory) -> None:
        """Add to a host's directory what its image contains; `HostDirectory.make` has created it."""

    def mount(self, data: Mapping[tuple[str, str], MountedChannel]) -> None:
        """Let hosts see what has not been copied: (host, channel) → files. Only if the engine ``mounts_data``."""

    def feed(self, host: Host, plan: FeederPlan, directory: RunDirectory) -> FeederProcess:
        """Start what feeds the Pipe channels of a host, before the hosts start. Raise RunFailed."""

    def start(self, hosts: Sequence[Host], directory: RunDirectory) -> Sequence[RunningHost]:
        """Start all hosts. Raise RunFailed; nothing is left running then."""

    def close(self) -> None:
        """Remove what a run leaves outside of its directory; every host has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineKind:
    """``unavailable`` returns why this machine cannot run the engine, as the end of a sentence, or None."""

    unavailable: Callable[[], str | None]
    open: Callable[[JobToRun], Engine]
