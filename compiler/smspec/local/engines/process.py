"""The engine that needs nothing installed: a host is a local process, with a directory as its /opt/ml."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property

from smspec.local.container_paths import container_path_differences, require_inside
from smspec.local.disturbances import NO_FAULTS
from smspec.local.engines.engine import JobToRun
from smspec.local.engines.host_process import Command, HostProcess
from smspec.local.engines.python_of_engine import PythonOfEngine
from smspec.local.engines.required_programs import require_torchrun
from smspec.local.gpus import gpu_differences
from smspec.local.image_content import ImageContent, image_differences
from smspec.local.job_variables import OWN_PREFIXES, author_secrets, job_variables, set_by_the_job
from smspec.local.python.job_python import JobPython, described
from smspec.local.python.wanted import Wanted, wanted_python
from smspec.local.request import RunFailed
from smspec.local.run_directory import HostDirectory, RunDirectory
from smspec.local.training_request import Host, TrainingRequest
from smspec.plan import Plan
from smspec.plan.delivery import launcher_name
from smspec.spec.model import JobSpec, Mpi, SmDataParallel

LOOPBACK = "127.0.0.1"


class ProcessEngine(PythonOfEngine):
    """Prepares the directories of hosts and their commands. Raises RunFailed for what needs a container."""

    name = "process"

    def __init__(self, run: JobToRun, wanted: Wanted | None = None) -> None:
        job, plan, request = run.job, run.plan, run.request
        _require_processes(job, plan)
        author_secrets(job.secrets, os.environ)
        self._job = job
        self.why = run.why
        self._training = TrainingRequest(plan.request.payload)
        self._content = ImageContent(job, plan, run.tree, request)
        self._request = request
        self._path_differences = container_path_differences(plan, run.tree)
        self._hosts = run.hosts
        self._faults = request.faults or NO_FAULTS
        self._wanted = wanted or wanted_python(job, plan, run.tree, request.requirements, request.startup)
        self._python = JobPython(
            self._wanted, request.python, request.scratch_dir, request.base_dir, run.cache, request.command
        )
        self.interface = loopback_interface()
        self.generated_channels = self._content.generated_channels

    @property
    def title(self) -> str:
        return f"{self.name}: {self.why}" if self.why else f"{self.name} ({described(self._python)})"

    @property
    def differences(self) -> list[str]:
        """Return how this machine and the job's Python differ from SageMaker."""
        found = [*self._python.differences, *image_differences(self._job), *gpu_differences(self._hosts)]
        found += self._path_differences
        if len(self._hosts) > 1:
            found.append(f"the hosts share this machine: they communicate over `{self.interface}`, not `eth0`")
        if self._training.payload.get("EnableNetworkIsolation"):
            found.append("`network.isolation` is not enforced: the job can use the network of this machine")
        return found

    @property
    def unconfined(self) -> list[str]:
        """Return that a process has every right of its author."""
        return ["your files", "your processes", "the network of this machine"]

    def prepare(self, show: Callable[[str], None]) -> None:
        """Install what the hosts share, if it is missing. Raise RunFailed."""
        require_inside(self._request.outside)
        self._python.prepare(may_install=self._request.may_install, show=show)
        if not self._wanted.installs:
            require_torchrun(self._job, self._path(os.environ, self._python.programs))

    @property
    def programs(self) -> list[str]:
        """The directories with the programs of the job's packages."""
        return self._python.programs

    @property
    def python_of_job(self) -> JobPython:
        """The job's Python, with the files and directories of this machine that it reads."""
        return self._python

    def hyperparameters(self, uploads: str) -> dict[str, str]:
        return self._content.hyperparameters(uploads)

    def fill(self, directory: HostDirectory) -> None:
        """Copy source and runtime to a host's directory, and create its Python environment."""
        self._content.fill(directory)
        self._python.make_environment_in(directory.python)

    def start(self, hosts: Sequence[Host], directory: RunDirectory) -> Sequence[HostProcess]:
        """Start every host as a process."""
        started: list[HostProcess] = []
        with ExitStack() as undo:
            for host in hosts:
                if self._faults.protects_model:
                    os.chmod(directory.host(host.name).model, 0o555)
                command = self.command(directory.host(host.name), os.environ)
                started.append(HostProcess(host.name, command, directory.log(host.name)))
                undo.callback(started[-1].kill)
            undo.pop_all()
        return started

    def close(self) -> None:
        """Remove the author's settings: the directories of the command are removed with it."""
        self._python.close()

    def command(self, directory: HostDirectory, inherited: Mapping[str, str]) -> Command:
        """Return the command of a host; ``inherited`` is the environment of smspec."""
        return Command(
            words=self._content.words(os.path.join(directory.python, "bin", "python"), directory),
            environment=self._environment(directory, inherited),
            directory=self._content.working_directory(directory),
        )

    @cached_property
    def _leader(self) -> str:
        """The address where launchers connect: a port for the job, one for all of its hosts, and two for each host.

        It is chosen when the first host starts, because a free port does not stay free for long.
        """
        ports = free_ports(2 + 2 * len(self._hosts))
        return "{}:{}".format(LOOPBACK, ",".join(map(str, ports)))

    def _environment(self, directory: HostDirectory, inherited: Mapping[str, str]) -> dict[str, str]:
        """Return the user's environment, overridden by that of the job."""
        return {
            **self._kept(inherited, directory),
            # Like /tmp of a container, removed with it: if smspec is killed, by its next command.
            "TMPDIR": self._temporary_directory(directory),
            **job_variables(self._job, self._training, inherited, self.interface),
            "PATH": self._path(inherited, [os.path.join(directory.python, "bin"), *self._python.programs]),
            "SAGEMAKER_BASE_DIR": directory.base,
            # This also makes the runtime use loopback, because the names of the hosts cannot be resolved here.
            "SMSPEC_LOCAL_LEADER": self._leader,
            **self._faults.variables,
        }

    def _temporary_directory(self, directory: HostDirectory) -> str:
        # Not below the run's directory: the path of a socket can have about 100 characters.
        path = os.path.join(os.path.abspath(self._request.scratch_dir), os.path.basename(directory.root))
        os.makedirs(path, exist_ok=True)
        return path

    def _kept(self, inherited: Mapping[str, str], directory: HostDirectory) -> dict[str, str]:
        """Return the user's environment without variables of other jobs or Pythons.

        PATH and the like must stay: the programs of a process engine are those of this machine. So do credentials: the
        job acts as the user.
        """
        kept = {name: value for name, value in inherited.items() if not name.startswith(OWN_PREFIXES)}
        return self._python.variables(kept, directory.python, may_install=self._request.may_install)

    def _path(self, inherited: Mapping[str, str], programs: Sequence[str]) -> str:
        path = {**inherited, **set_by_the_job(self._job, self._training, inherited)}.get("PATH", os.defpath)
        return os.pathsep.join([*programs, path])


def free_ports(count: int) -> list[int]:
    """Return ports of the loopback interface that are not in use now."""
    with ExitStack() as probes:
        ports = []
        for _ in range(count):
            probe = probes.enter_context(socket.socket())
            probe.bind((LOOPBACK, 0))
            ports.append(probe.getsockname()[1])
        return ports


def _require_processes(job: JobSpec, plan: Plan) -> None:
    if isinstance(job.distribution, Mpi | SmDataParallel):
        launcher = launcher_name(job.distribution)
        raise RunFailed(
            3,
            f"the engine `process` does not support `{launcher}`: it needs SSH between containers, "
            "and smspec starts processes",
        )
    if plan.run is None and job.source is None:
        raise RunFailed(
            3,
            "the training script of this job is inside its image, and the engine `process` starts no containers: "
            "set `source` and `entry_point` in the spec, or pass --engine docker",
        )


def loopback_interface() -> str:
    """Return the name of the loopback interface, over which the hosts of a local run communicate."""
    return "lo0" if sys.platform == "darwin" else "lo"
