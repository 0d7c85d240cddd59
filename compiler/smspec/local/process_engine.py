"""The engine that needs nothing installed: a host is a process of this machine, with a directory as its /opt/ml."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cached_property

from smspec.local.host_process import Command
from smspec.local.request import Unable
from smspec.local.run_directory import HostDirectory
from smspec.local.training_request import TrainingRequest
from smspec.plan.delivery import ARCHIVE
from smspec.plan.plan import Plan
from smspec.plan.run_planning import launcher_name
from smspec.render.tree import SOURCE, SOURCES, UPLOAD, FileTree
from smspec.spec.model import BuiltImage, JobSpec, Mpi, SmDataParallel, Torchrun
from smspec_runtime import run_plan
from smspec_runtime.run_plan import CODE_CHANNEL, RUNTIME_CHANNEL

LOOPBACK = "127.0.0.1"
SUBMIT_DIRECTORY = "sagemaker_submit_directory"

_ENTRYPOINT = "entrypoint.py"
_ARCHIVE = f"{UPLOAD}{ARCHIVE}"
_INSTALLED = tuple(f"{place}{name}" for place in SOURCES for name in ("requirements.txt", "setup.py"))
_OWN_PREFIXES = ("SM_", "SAGEMAKER_", "TRAINING_JOB_")
_OLDEST_PYTHON = (3, 8)
_VERSION = "import sys; print(*sys.version_info[:2])"


class ProcessEngine:
    """Prepares the directories of hosts and says what is started in them. Raises Unable for what needs a container."""

    def __init__(self, job: JobSpec, plan: Plan, tree: FileTree, tree_dir: str, python: str | None, hosts: int) -> None:
        _require_processes(job, plan)
        self._job = job
        self._plan = plan
        self._request = TrainingRequest(plan.request.payload)
        self._paths = [file.path for file in tree.files]
        self._tree_dir = os.path.abspath(tree_dir)
        self._host_count = hosts
        self.python = _python(python)
        self._python_is_named = python is not None
        self._require_launcher()

    def generated_channels(self) -> dict[str, str]:
        """Return the channels that bring source and runtime, and the directories of the tree that fill them."""
        return {
            name: os.path.join(self._tree_dir, UPLOAD, name)
            for name in (CODE_CHANNEL, RUNTIME_CHANNEL)
            if any(path.startswith(f"{UPLOAD}{name}/") for path in self._paths)
        }

    def hyperparameters(self, uploads: str) -> dict[str, str]:
        """Return what hyperparameters.json says. An archive of the source is put into ``uploads`` and named there."""
        values = self._request.hyperparameters
        if _ARCHIVE in self._paths and SUBMIT_DIRECTORY in values:
            values[SUBMIT_DIRECTORY] = os.path.join(os.path.abspath(uploads), os.path.basename(_ARCHIVE))
            self._copy(_ARCHIVE, values[SUBMIT_DIRECTORY])
        return values

    def prepare(self, directory: HostDirectory) -> None:
        """Put into a host's directory what the image holds: source and runtime."""
        for path in self._paths:
            if path.startswith(SOURCE) and self._job.delivery == "image":
                self._copy(path, os.path.join(directory.code, path.removeprefix(SOURCE)))
            elif path.startswith("smspec_runtime/") or path in (_ENTRYPOINT, "run_plan.json"):
                self._copy(path, os.path.join(directory.runtime, path))
        if self._plan.run is None:
            shutil.copytree(
                os.path.dirname(run_plan.__file__),
                os.path.join(directory.runtime, "smspec_runtime"),
                ignore=shutil.ignore_patterns("__pycache__"),
            )

    @cached_property
    def _leader(self) -> str:
        """Where launchers meet: a port for the job, one for the team of its hosts, and two for each host.

        Chosen when the first host starts, for a free port does not stay free for long.
        """
        ports = free_ports(2 + 2 * self._host_count)
        return "{}:{}".format(LOOPBACK, ",".join(map(str, ports)))

    def installation_warning(self) -> str | None:
        """Return what to say when the job installs packages: here it does so into the user's own Python."""
        names = {path.rpartition("/")[2] for path in self._paths if path in _INSTALLED}
        if not names:
            return None
        return f"the job installs what its `{min(names)}` names into {self.python}; --python takes another one"

    def _require_launcher(self) -> None:
        """Refuse to start hosts that would all fail at once; a job that installs packages may bring its launcher."""
        if not isinstance(self._job.distribution, Torchrun) or self.installation_warning() is not None:
            return
        path = {**self._kept(os.environ), **self._set_by_the_job()}.get("PATH", os.defpath)
        if shutil.which("torchrun", path=path) is None:
            raise Unable(3, "there is no `torchrun` on PATH; name a Python that has PyTorch with --python")

    def command(self, directory: HostDirectory, inherited: Mapping[str, str]) -> Command:
        """Return what starts a host; ``inherited`` is our own environment."""
        if self._plan.run is None:
            words = [self.python, "-m", "smspec_runtime", "train"]
        elif _ENTRYPOINT in self._paths:
            words = [self.python, os.path.join(directory.runtime, _ENTRYPOINT), "train"]
        else:
            words = [self.python, os.path.join(directory.data, RUNTIME_CHANNEL, _ENTRYPOINT), "train"]
        working = directory.runtime if self._plan.run is None else directory.base
        return Command(words=words, environment=self._environment(directory, inherited), directory=working)

    def _copy(self, path: str, target: str) -> None:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(os.path.join(self._tree_dir, path), target)

    def _environment(self, directory: HostDirectory, inherited: Mapping[str, str]) -> dict[str, str]:
        """Return the user's environment under that of the job."""
        request = self._request
        account = self._job.account or (request.role.split(":")[4:5] or [""])[0]
        region = {"AWS_REGION": self._job.region} if self._job.region else {}
        arn = f"arn:aws:sagemaker:{self._job.region or 'local'}:{account}:training-job/{request.name}"
        return {
            **self._kept(inherited),
            **region,
            "TRAINING_JOB_NAME": request.name,
            "TRAINING_JOB_ARN": arn,
            "DMLC_INTERFACE": loopback_interface(),
            "KMP_DUPLICATE_LIB_OK": "True",
            "KMP_INIT_AT_FORK": "FALSE",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
            **self._set_by_the_job(),
            "SAGEMAKER_BASE_DIR": directory.base,
            # It also tells the runtime that the names of the hosts cannot be resolved here.
            "SMSPEC_LOCAL_LEADER": self._leader,
        }

    def _kept(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """Return the user's environment without what another job may have left in it.

        PATH and the like must stay: the programs of a process engine are those of this machine. So do credentials:
        what the job does here, it does as the user.
        """
        kept = {name: value for name, value in inherited.items() if not name.startswith(_OWN_PREFIXES)}
        if self._python_is_named:
            # What belongs to that Python, torchrun for one, is found before what belongs to another.
            kept["PATH"] = os.pathsep.join([os.path.dirname(self.python), kept.get("PATH", os.defpath)])
        return kept

    def _set_by_the_job(self) -> dict[str, str]:
        image = self._job.image.env if isinstance(self._job.image, BuiltImage) else {}
        return {**image, **self._request.environment}


def free_ports(count: int) -> list[int]:
    """Return ports of the loopback interface that nobody listens on now."""
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
        raise Unable(
            3, f"`{launcher}` reaches its hosts over ssh, so it needs containers, and `smspec run` starts processes"
        )
    if plan.run is None and job.source is None:
        raise Unable(
            3,
            "the program of this job lies in its image, and `smspec run` starts no containers: "
            "it runs a job whose spec has `source` and `entry_point`",
        )


def _python(wanted: str | None) -> str:
    """Return the interpreter that the job runs on; it must be one that the runtime can run on."""
    python = shutil.which(wanted or "python3")
    if python is None:
        name = wanted or "python3"
        raise Unable(3, f"there is no `{name}`; say which Python the job runs on with --python")
    try:
        answer = subprocess.run([python, "-c", _VERSION], capture_output=True, text=True, check=False, timeout=60)
        version = tuple(map(int, answer.stdout.split()))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        version = ()
    if version < _OLDEST_PYTHON:
        raise Unable(3, f"`{python}` is not a Python 3.8 or later; name another one with --python")
    return os.path.abspath(python)


def loopback_interface() -> str:
    """Return the name of the interface that the hosts of a local run talk over."""
    return "lo0" if sys.platform == "darwin" else "lo"
