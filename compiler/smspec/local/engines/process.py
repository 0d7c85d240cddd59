"""The engine that needs nothing installed: a host is a local process, with a directory as its /opt/ml."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property

from smspec.local.channels.channel_data import MountedChannel
from smspec.local.channels.feeder_process import FeederProcess, own_feeder
from smspec.local.engines.engine import HostCommand, HostProcess, JobToRun, gpu_differences
from smspec.local.feeder.plan import FeederPlan
from smspec.local.python.job_python import JobPython, described
from smspec.local.python.wanted import Wanted, wanted_python
from smspec.local.running.image_content import (
    OWN_PREFIXES,
    ImageContent,
    author_secrets,
    image_differences,
    job_variables,
    set_by_the_job,
    source_files,
)
from smspec.local.running.request import NO_FAULTS, RunFailed
from smspec.local.running.run_directory import HostDirectory, RunDirectory
from smspec.local.running.training_request import Host, TrainingRequest
from smspec.plan import Plan
from smspec.plan.delivery import launcher_name
from smspec.render.tree import FileTree
from smspec.script.program import FileUse
from smspec.source.real_file import program_named
from smspec.spec.model import JobSpec, Mpi, SmDataParallel, Torchrun

LOOPBACK = "127.0.0.1"
_LITERAL = "/opt/ml/"
_LARGEST_SOURCE = 1 << 20
_MOST_SHOWN = 3
_VARIABLES = (
    ("/opt/ml/model", "SM_MODEL_DIR"),
    ("/opt/ml/output/data", "SM_OUTPUT_DATA_DIR"),
    ("/opt/ml/output", "SM_OUTPUT_DIR"),
    ("/opt/ml/input/config", "SM_INPUT_CONFIG_DIR"),
    ("/opt/ml/input/data", "SM_CHANNEL_NAME"),
    ("/opt/ml/input", "SM_INPUT_DIR"),
    ("/opt/ml/checkpoints", "smspec_runtime.job().checkpoint_dir"),
)
"""The directories of a container, and the variables for those of the job wherever it runs."""


class PythonOfEngine:
    """What all engines have that start no image: a Python of this machine runs the job, and feeds it.

    An engine sets ``_python`` when it is created.
    """

    limits_memory = False
    mounts_data = False
    _python: JobPython

    def mount(self, data: Mapping[tuple[str, str], MountedChannel]) -> None:
        """Do nothing: hosts have copies."""

    def feed(self, host: Host, plan: FeederPlan, directory: RunDirectory) -> FeederProcess:
        """Start the feeder of a host on this machine."""
        return own_feeder(host.name, plan, os.path.join(directory.host(host.name).root, "feeder.json"))

    @property
    def python(self) -> str:
        return self._python.interpreter.executable

    @property
    def python_version(self) -> str:
        return self._python.interpreter.version

    @property
    def locked_packages(self) -> int:
        return self._python.locked_packages


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
        self._python = JobPython(self._wanted, request, run.cache)
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

    def command(self, directory: HostDirectory, inherited: Mapping[str, str]) -> HostCommand:
        """Return the command of a host; ``inherited`` is the environment of smspec."""
        return HostCommand(
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
    import socket  # imported late: hosts with a network of their own need no free ports

    with ExitStack() as probes:
        ports = []
        for _ in range(count):
            probe = probes.enter_context(socket.socket())
            probe.bind((LOOPBACK, 0))
            ports.append(probe.getsockname()[1])
        return ports


def _require_processes(job: JobSpec, plan: Plan) -> None:
    if sys.platform.startswith("linux") and not os.path.isdir("/proc/self"):
        raise RunFailed(3, "the engine `process` needs /proc: without it, smspec cannot end what a script has started")
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


def require_inside(uses: Sequence[FileUse]) -> None:
    """Reject a script that certainly uses a path outside of its run. Raise RunFailed."""
    if not uses:
        return
    use = uses[0]
    more = f" (and {len(uses) - 1} more)" if len(uses) > 1 else ""
    way = next((f"use {name}" for path, name in _VARIABLES if f"{use.path}/".startswith(f"{path}/")), "use a variable")
    raise RunFailed(
        1,
        f"{use.place.file}:{use.place.line}: `{use.operation}` uses `{use.path}`, which is outside the run "
        f"directory{more}: {way}, or pass --allow-outside",
    )


def container_path_differences(plan: Plan, tree: FileTree) -> list[str]:
    """Return a sentence if source, arguments, or environment contain /opt/ml/, which here is not the job's."""
    places = [*_files_with_literal(source_files(tree)), *_values_with_literal(plan)]
    if not places:
        return []
    more = f" and {len(places) - _MOST_SHOWN} more" if len(places) > _MOST_SHOWN else ""
    shown = ", ".join(places[:_MOST_SHOWN])
    return [
        f"{shown}{more}: literal `{_LITERAL}` paths do not work on this machine; "
        "use SM_CHANNEL_…, SM_MODEL_DIR, and SM_OUTPUT_DATA_DIR"
    ]


def _files_with_literal(files: Iterator[tuple[str, str]]) -> Iterator[str]:
    for name, origin in files:
        if os.path.getsize(origin) > _LARGEST_SOURCE:
            continue
        with open(origin, "rb") as file:
            for number, line in enumerate(file, 1):
                if _LITERAL.encode() in line:
                    yield f"{name}:{number}"
                    break


def _values_with_literal(plan: Plan) -> Iterator[str]:
    request = TrainingRequest(plan.request.payload)
    kinds: Sequence[tuple[str, Mapping[str, str]]] = (
        ("hyperparameter", {k: v for k, v in request.hyperparameters.items() if not k.startswith("sagemaker_")}),
        ("environment variable", request.environment),
    )
    for kind, values in kinds:
        for name, value in values.items():
            if _LITERAL in value:
                yield f"{kind} `{name}`"
    words = [*plan.run.command, *plan.run.arguments] if plan.run is not None else []
    for word in words:
        if _LITERAL in word:
            yield f"argument `{word}`"


def require_torchrun(job: JobSpec, path: str) -> None:
    """Check that a job's launcher, which no image brings, is on its PATH. Raise RunFailed."""
    if isinstance(job.distribution, Torchrun) and program_named("torchrun", path=path) is None:
        raise RunFailed(
            3,
            "cannot find `torchrun` on PATH: add `torch` to `image.python_packages`, "
            "or choose a Python that has PyTorch with --python",
        )
