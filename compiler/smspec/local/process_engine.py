"""The engine that needs nothing installed: a host is a local process, with a directory as its /opt/ml."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property

from smspec.local.host_process import Command
from smspec.local.job_secrets import author_secrets
from smspec.local.python.cache import EnvironmentCache
from smspec.local.python.job_python import JobPython
from smspec.local.python.wanted import Wanted, wanted_python
from smspec.local.request import RunFailed, RunRequest
from smspec.local.run_directory import HostDirectory
from smspec.local.training_request import TrainingRequest
from smspec.plan.delivery import ARCHIVE
from smspec.plan.plan import Plan
from smspec.plan.run_planning import launcher_name
from smspec.render.tree import SOURCE, UPLOAD, FileTree
from smspec.spec.model import BuiltImage, JobSpec, Mpi, SmDataParallel, Torchrun
from smspec_runtime import run_plan
from smspec_runtime.run_plan import CODE_CHANNEL, RUNTIME_CHANNEL

LOOPBACK = "127.0.0.1"
SUBMIT_DIRECTORY = "sagemaker_submit_directory"

_ENTRYPOINT = "entrypoint.py"
_ARCHIVE = f"{UPLOAD}{ARCHIVE}"
_OWN_PREFIXES = ("SM_", "SAGEMAKER_", "TRAINING_JOB_")


class ProcessEngine:
    """Prepares the directories of hosts and their commands. Raises RunFailed for what needs a container."""

    def __init__(
        self,
        job: JobSpec,
        plan: Plan,
        tree: FileTree,
        request: RunRequest,
        hosts: int,
        cache: EnvironmentCache,
        wanted: Wanted | None = None,
    ) -> None:
        _require_processes(job, plan)
        author_secrets(job.secrets, os.environ)
        self._job = job
        self._plan = plan
        self._request = TrainingRequest(plan.request.payload)
        self._paths = [file.path for file in tree.files]
        self._tree_dir = request.tree_dir
        self._scratch_dir = os.path.abspath(request.scratch_dir)
        self._host_count = hosts
        self._may_install = request.may_install
        self._wanted = wanted or wanted_python(job, plan, tree, request.requirements)
        self._python = JobPython(
            self._wanted, request.python, request.scratch_dir, request.base_dir, cache, request.command
        )

    def generated_channels(self) -> dict[str, str]:
        """Return the channels that deliver source and runtime, and the directories of the tree for them."""
        return {
            name: os.path.join(self._tree_dir, UPLOAD, name)
            for name in (CODE_CHANNEL, RUNTIME_CHANNEL)
            if any(path.startswith(f"{UPLOAD}{name}/") for path in self._paths)
        }

    def hyperparameters(self, uploads: str) -> dict[str, str]:
        """Return the content of hyperparameters.json. Copy an archive of the source to ``uploads`` and set its path."""
        values = self._request.hyperparameters
        if _ARCHIVE in self._paths and SUBMIT_DIRECTORY in values:
            values[SUBMIT_DIRECTORY] = os.path.join(os.path.abspath(uploads), os.path.basename(_ARCHIVE))
            self._copy(_ARCHIVE, values[SUBMIT_DIRECTORY])
        return values

    def prepare(self, directory: HostDirectory) -> None:
        """Copy the content of the image to a host's directory: source and runtime."""
        for path in self._paths:
            if path.startswith(SOURCE) and self._job.delivery == "image":
                self._copy(path, os.path.join(directory.code, path.removeprefix(SOURCE)))
            elif path.startswith("smspec_runtime/") or path in (_ENTRYPOINT, "run_plan.json"):
                self._copy(path, os.path.join(directory.runtime, path))
        self._python.make_environment_in(directory.python)
        if self._plan.run is None:
            shutil.copytree(
                os.path.dirname(run_plan.__file__),
                os.path.join(directory.runtime, "smspec_runtime"),
                ignore=shutil.ignore_patterns("__pycache__"),
            )

    @cached_property
    def _leader(self) -> str:
        """The address where launchers connect: a port for the job, one for all of its hosts, and two for each host.

        It is chosen when the first host starts, because a free port does not stay free for long.
        """
        ports = free_ports(2 + 2 * self._host_count)
        return "{}:{}".format(LOOPBACK, ",".join(map(str, ports)))

    def prepare_python(self, show: Callable[[str], None]) -> None:
        """Install what the hosts share, if it is missing, before anything is written. Raise RunFailed."""
        self._python.prepare(may_install=self._may_install, show=show)
        if isinstance(self._job.distribution, Torchrun) and not self._wanted.installs:
            path = self._path(os.environ, self._python.programs)
            if shutil.which("torchrun", path=path) is None:
                raise RunFailed(
                    3,
                    "cannot find `torchrun` on PATH: add `torch` to `image.python_packages`, "
                    "or choose a Python that has PyTorch with --python",
                )

    @property
    def differences(self) -> list[str]:
        """Return how the job's Python differs from that of its image."""
        return self._python.differences

    @property
    def programs(self) -> list[str]:
        """The directories with the programs of the job's packages."""
        return self._python.programs

    @property
    def python(self) -> str:
        """The local interpreter that the job runs on."""
        return self._python.interpreter.executable

    @property
    def locked_packages(self) -> int:
        """How many packages of the job are those of the lock."""
        return self._python.locked_packages

    def command(self, directory: HostDirectory, inherited: Mapping[str, str]) -> Command:
        """Return the command of a host; ``inherited`` is the environment of smspec."""
        python = os.path.join(directory.python, "bin", "python")
        if self._plan.run is None:
            words = [python, "-m", "smspec_runtime", "train"]
        elif _ENTRYPOINT in self._paths:
            words = [python, os.path.join(directory.runtime, _ENTRYPOINT), "train"]
        else:
            words = [python, os.path.join(directory.data, RUNTIME_CHANNEL, _ENTRYPOINT), "train"]
        working = directory.runtime if self._plan.run is None else directory.base
        return Command(words=words, environment=self._environment(directory, inherited), directory=working)

    def _copy(self, path: str, target: str) -> None:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(os.path.join(self._tree_dir, path), target)

    def _environment(self, directory: HostDirectory, inherited: Mapping[str, str]) -> dict[str, str]:
        """Return the user's environment, overridden by that of the job."""
        request = self._request
        account = self._job.account or (request.role.split(":")[4:5] or [""])[0]
        region = self._job.region or inherited.get("AWS_REGION") or inherited.get("AWS_DEFAULT_REGION")
        arn = f"arn:aws:sagemaker:{region or 'local'}:{account}:training-job/{request.name}"
        return {
            **self._kept(inherited, directory),
            **({"AWS_REGION": region} if region else {}),
            # Like /tmp of a container, removed with it: if smspec is killed, by its next command.
            "TMPDIR": self._temporary_directory(directory),
            "TRAINING_JOB_NAME": request.name,
            "TRAINING_JOB_ARN": arn,
            "DMLC_INTERFACE": loopback_interface(),
            "KMP_DUPLICATE_LIB_OK": "True",
            "KMP_INIT_AT_FORK": "FALSE",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",  # nothing is written next to imported modules
            **self._set_by_the_job(),
            **author_secrets(self._job.secrets, inherited),
            "PATH": self._path(inherited, [os.path.join(directory.python, "bin"), *self._python.programs]),
            "SAGEMAKER_BASE_DIR": directory.base,
            # This also makes the runtime use loopback, because the names of the hosts cannot be resolved here.
            "SMSPEC_LOCAL_LEADER": self._leader,
        }

    def _temporary_directory(self, directory: HostDirectory) -> str:
        # Not below the run's directory: the path of a socket can have about 100 characters.
        path = os.path.join(self._scratch_dir, os.path.basename(directory.root))
        os.makedirs(path, exist_ok=True)
        return path

    def _kept(self, inherited: Mapping[str, str], directory: HostDirectory) -> dict[str, str]:
        """Return the user's environment without variables of other jobs or Pythons.

        PATH and the like must stay: the programs of a process engine are those of this machine. So do credentials: the
        job acts as the user.
        """
        kept = {name: value for name, value in inherited.items() if not name.startswith(_OWN_PREFIXES)}
        return self._python.variables(kept, directory.python, may_install=self._may_install)

    def _path(self, inherited: Mapping[str, str], programs: Sequence[str]) -> str:
        path = {**inherited, **self._set_by_the_job()}.get("PATH", os.defpath)
        return os.pathsep.join([*programs, path])

    def _set_by_the_job(self) -> dict[str, str]:
        image = self._job.image.env if isinstance(self._job.image, BuiltImage) else {}
        return {**image, **self._request.environment}


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
            f"`smspec run` does not support `{launcher}`: it needs SSH between containers, and smspec starts processes",
        )
    if plan.run is None and job.source is None:
        raise RunFailed(
            3,
            "the training script of this job is inside its image, and `smspec run` starts no containers: "
            "set `source` and `entry_point` in the spec",
        )


def loopback_interface() -> str:
    """Return the name of the interface that the hosts of a local run communicate over."""
    return "lo0" if sys.platform == "darwin" else "lo"
