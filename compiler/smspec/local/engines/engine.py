"""What an engine is: everything of a run that depends on how its hosts are started.

A host of most engines is a child process. All hosts share the GPUs of this machine.
"""

from __future__ import annotations

import glob
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from smspec.local.channels.channel_data import MountedChannel
from smspec.local.channels.feeder_process import FeederProcess
from smspec.local.feeder.plan import FeederPlan
from smspec.local.python.environment import EnvironmentCache
from smspec.local.running.request import RunFailed, RunRequest
from smspec.local.running.run_directory import HostDirectory, RunDirectory
from smspec.local.running.training_request import Host
from smspec.local.watch.host_log import HostLog, LogText
from smspec.local.watch.machine_processes import MachineProcess, Usage, below, read_usage
from smspec.plan import Plan
from smspec.render.tree import FileTree
from smspec.service.facts import instance
from smspec.source.frozen import dataclass
from smspec.spec.model import JobSpec
from smspec.workspace.process_guard import guarded

UPLOADS = "/opt/smspec/upload"
"""Where a host of its own root directory sees the archive of the source, if there is one."""

BY_NAME = ":"
"""The value of SMSPEC_LOCAL_LEADER that makes the runtime use the names of hosts, and the author's secrets."""

_NVIDIA_DEVICES = "/dev/nvidia[0-9]*"


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
    """A started host and its log. ``descriptors``: its stdout and stderr, readable when it has written, or ended.

    ``usage``, of a host that has ended, is None if it was not measured. ``refusal``: why its engine could not start it.
    ``loss``: why it may still run, although nothing connects smspec to it. ``added``: files below /opt/ml that it has
    written to no directory of this machine.
    """

    host: str
    exit_status: int | None
    refusal: str
    loss: str
    added: Sequence[str]
    usage: Usage | None
    seconds: float
    descriptors: Sequence[int]

    def read(self, descriptor: int) -> list[LogText] | None:
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

    def close(self) -> list[LogText]:
        """Close the log and return a last line without a line feed."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCommand:
    """The command that is started on a host."""

    words: Sequence[str]
    environment: Mapping[str, str]
    directory: str


class HostProcess:
    """Runs in a session of its own, and both its streams go to one log, as those of a container.

    A guard kills everything that it has started with it, also if smspec is killed, and measures what it used.
    """

    def __init__(self, host: str, command: HostCommand, log: str) -> None:
        self.host = host
        self.exit_status: int | None = None
        self.refusal = self.loss = ""
        self.added: Sequence[str] = ()
        self.usage: Usage | None = None
        self._started = time.monotonic()
        self.seconds = 0.0
        self._log = HostLog(log)
        self.descriptors: Sequence[int] = self._log.descriptors
        self._measured, measuring = os.pipe()
        try:
            self._process = subprocess.Popen(
                guarded(list(command.words), measuring),
                env=dict(command.environment),
                cwd=command.directory,
                stdin=subprocess.PIPE,
                stdout=self._log.streams[0],
                stderr=self._log.streams[1],
                start_new_session=True,
                pass_fds=(measuring,),
            )
        except OSError as error:
            os.close(self._measured)
            self._log.close()
            raise RunFailed(3, f"cannot start `{command.words[0]}`: {(error.strerror or str(error)).lower()}") from None
        finally:
            os.close(measuring)
        self._log.close_streams()
        self.pid = self._process.pid

    def read(self, descriptor: int) -> list[LogText] | None:
        """Read the available output, which may block, append it to the log, and return its lines; None at the end."""
        return self._log.read(descriptor)

    def ended(self) -> bool:
        """Return whether the process has ended; `exit_status` is then 128 + n if signal n ended it."""
        if self.exit_status is None:
            code = self._process.poll()
            if code is not None:
                self.exit_status = code if code >= 0 else 128 - code
                self.seconds = time.monotonic() - self._started
                self.usage = self._read_usage()
        return self.exit_status is not None

    def processes(self) -> list[MachineProcess]:
        """Return the processes below the guard."""
        return below(self.pid)

    def kill_process(self, number: int) -> None:
        """Kill one of them."""
        os.kill(number, signal.SIGKILL)

    def _read_usage(self) -> Usage | None:
        with open(self._measured, "rb") as file:
            return read_usage(file.read())

    def terminate(self) -> None:
        """Stop the process as `docker stop` does first: SIGTERM, to the first process only."""
        self._process.terminate()

    def kill(self) -> None:
        """Kill the process as `docker stop` does last, with everything that the host has started."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def close(self) -> list[LogText]:
        """Close the log and return a last line without a line feed."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._log.close()


def machine_gpus() -> int:
    """Return how many GPUs the driver of NVIDIA shows on this machine."""
    return len(glob.glob(_NVIDIA_DEVICES))


def gpu_differences(hosts: Sequence[Host]) -> list[str]:
    """Return the difference between the GPUs of the instances and those of this machine, if there is one."""
    kind = max((host.instance_type for host in hosts), key=_gpus)
    wanted, here = _gpus(kind), machine_gpus()
    if not wanted or here == wanted == sum(_gpus(host.instance_type) for host in hosts):
        return []
    has = f"`{kind}` has {_count(wanted)}"
    if not here:
        return [f"{has}, this machine has none"]
    shared = ", which all hosts share" if len(hosts) > 1 else ""
    return [f"{has}, this machine has {_count(here)}{shared}"]


def gpu_words(program: str, host: Host) -> list[str]:
    """Return the options that give a container all GPUs of this machine, if its instance has some.

    podman accepts ``--gpus`` and ignores it.
    """
    if not _gpus(host.instance_type) or not machine_gpus():
        return []
    return ["--device=nvidia.com/gpu=all"] if program == "podman" else ["--gpus=all"]


def _gpus(kind: str) -> int:
    facts = instance(kind)
    return (facts.gpus if facts is not None else None) or 0


def _count(number: int) -> str:
    return "1 GPU" if number == 1 else f"{number} GPUs"
