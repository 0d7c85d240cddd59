"""How the runtime starts the training script of a job: the command, the directory, and the environment.

The environment has the variables that a launcher sets for the first of its processes.
"""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from smspec.local.engines.engine import JobToRun
from smspec.local.engines.namespace.machine_paths import named_places, python_binds, sockets_below, unsearched_place
from smspec.local.engines.process import ProcessEngine
from smspec.local.python.environment import EnvironmentCache
from smspec.local.python.wanted import Wanted
from smspec.local.running.host_layout import config_files
from smspec.local.running.request import RunRequest
from smspec.local.running.run_directory import HostDirectory
from smspec.local.running.training_request import TrainingRequest
from smspec.output.writing import write_temporary_tree
from smspec.pipeline.compilation import Compiled, compiled_digest
from smspec.plan import Plan
from smspec.proof.driver import starting
from smspec.proof.sandbox import Sandbox, is_list_of_texts, of_this_machine
from smspec.render.tree_rendering import render_tree
from smspec.service.facts import instance
from smspec.source.frozen import dataclass, replace
from smspec.spec.model import Distribution, JobSpec, Mpi, SmDataParallel, Torchrun

_OF_THE_JOB = "/opt/ml/"

DRIVER = "_smspec_check"
"""The package of `driver/` in the environment of a script."""


_SECRET = "secret"
"""The value of each secret of the job."""

_BUNDLED = ("pip-", "setuptools-", "wheel-")
"""What every environment has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """``words`` start the script in ``directory``, the copy of its source. ``driver`` is a file for ``python``."""

    words: tuple[str, ...]
    directory: str
    environment: Mapping[str, str]
    python: str
    driver: str

    @property
    def argv(self) -> list[str]:
        """The command line that the script sees."""
        words = list(self.words[1:])
        return words[1:] if words[:1] == ["--"] else words


@dataclass(frozen=True, slots=True, kw_only=True)
class NotStarted:
    """The runtime ends before it starts the script; ``reason`` ends a sentence."""

    reason: str


class Preparation:
    """The environment of a job, and then the first host of it, in a sandbox. Raises RunFailed.

    In ``sandbox``, commands can read the packages as soon as they are installed. ``unconfined``: what they then reach.
    """

    def __init__(
        self, compiled: Compiled, wanted: Wanted, request: RunRequest, cache: EnvironmentCache, sandbox: Sandbox
    ) -> None:
        # The launcher starts the script on every host and waits for them: here one process is enough.
        job, plan = _for_one_process(compiled.job, compiled.plan)
        self._secrets = tuple(compiled.job.secrets)
        self._distribution = compiled.job.distribution
        self._training = TrainingRequest(plan.request.payload)
        self._hosts = self._training.hosts()
        self.sandbox = sandbox
        self.unconfined = ""
        self._tree_dir = request.tree_dir
        digest = compiled_digest(plan)
        self._tree = render_tree(plan, compiled.inputs.build_inputs, digest, builds_image=False)
        run = JobToRun(job=job, plan=plan, tree=self._tree, request=request, hosts=self._hosts[:1], cache=cache)
        self._engine = ProcessEngine(run, wanted)

    def install(self, show: Callable[[str], None]) -> None:
        """Install the packages of the image, unless they are cached."""
        self._engine.prepare(show)
        python = self._engine.python_of_job
        named = named_places(python.interpreter)[0] if python.is_lent else []
        places = [*self.sandbox.places, *(bind.source for bind in python_binds([*python.places, *named]))]
        listening = sockets_below([*python.lent_places, *named], places)
        self.unconfined = "; ".join(map(unsearched_place, listening.unsearched))
        # A Python or a package below it would be hidden.
        is_free = not any(f"{os.path.realpath(path)}/".startswith(_OF_THE_JOB) for path in places)
        self.sandbox = replace(
            self.sandbox,
            places=tuple(dict.fromkeys(places)),
            hidden=tuple(listening.paths),
            host=self._place.base if is_free else "",
        )

    @property
    def programs(self) -> tuple[str, ...]:
        """The directories of the job's Python and its packages."""
        return (self._place.python, *map(os.path.dirname, self._engine.programs))

    @property
    def package_count(self) -> int:
        """How many packages are installed for the job."""
        pattern = os.path.join("lib", "python*", "site-packages", "*.dist-info")
        found = [name for above in self.programs for name in glob.glob(os.path.join(glob.escape(above), pattern))]
        names = {os.path.basename(name) for name in found}
        return sum(not name.startswith(_BUNDLED) for name in names)

    @property
    def _place(self) -> HostDirectory:
        return HostDirectory(self.sandbox.path("host"))

    def start(self) -> Start | NotStarted:
        """Let the runtime start the script, and record how, without running it."""
        write_temporary_tree(self._tree, self._tree_dir)
        place = self._place
        place.make()
        self._engine.fill(place)
        hyperparameters = self._engine.hyperparameters(self.sandbox.path("upload"))
        texts = config_files(self._training, self._hosts, self._hosts[0], hyperparameters, self._engine.interface)
        for name, text in texts.items():
            with open(os.path.join(place.config, name), "w", encoding="utf-8") as file:
                file.write(text)
        self._lay_channels(place)
        checkpoints = os.path.normpath(self._training.checkpoint_directory or "")
        if checkpoints.startswith(_OF_THE_JOB):
            os.makedirs(f"{place.root}{checkpoints}", exist_ok=True)
        driver = _add_driver(place.python)
        # Neither the values of AWS nor those of the author are part of this proof.
        inherited = {**of_this_machine(os.environ), **dict.fromkeys(self._secrets, _SECRET)}
        command = self._engine.command(place, inherited)
        result = self.sandbox.path("start.json")
        environment = {**command.environment, starting.CAPTURE: result}
        ended = self.sandbox.run(command.words, environment, command.directory)
        record = self.sandbox.result(result)
        if record is None or not _is_of_the_driver(record):
            return NotStarted(reason="it took too long to start" if ended.is_late else ended.last_line)
        ranks = launcher_variables(
            self._distribution, len(self._hosts), self._hosts[0].instance_type, record["environment"]
        )
        return Start(
            words=tuple(record["words"]),
            directory=record["directory"],
            environment={**record["environment"], **ranks},
            python=os.path.join(place.python, "bin", "python"),
            driver=driver,
        )

    def _lay_channels(self, place: HostDirectory) -> None:
        """Create empty channels: the data of a job is not part of this proof."""
        generated = self._engine.generated_channels()
        for channel in self._training.channels:
            target = os.path.join(place.data, channel.name)
            if channel.name in generated:
                shutil.copytree(generated[channel.name], target)
            elif channel.mode != "Pipe":
                os.makedirs(target, exist_ok=True)


def data_places(compiled: Compiled) -> tuple[str, ...]:
    """Return the directories of the container that have content there, but not here."""
    checkpoints = TrainingRequest(compiled.plan.request.payload).checkpoint_directory
    channels = [f"/opt/ml/input/data/{channel.name}" for channel in compiled.job.channels]
    return (*channels, *([os.path.normpath(checkpoints)] if checkpoints else []))


def _is_of_the_driver(record: Mapping[str, Any]) -> bool:
    """Return whether a record has the form in which the driver writes it: a package may have written another one."""
    variables, directory = record.get("environment"), record.get("directory")
    has_variables = isinstance(variables, dict) and is_list_of_texts([*variables.values()])
    return (
        bool(record.get("words")) and is_list_of_texts(record["words"]) and has_variables and isinstance(directory, str)
    )


def _for_one_process(job: JobSpec, plan: Plan) -> tuple[JobSpec, Plan]:
    run = None if plan.run is None else plan.run._replace(launcher=None)
    return replace(job, distribution=None, secrets={}), replace(plan, run=run)


def _add_driver(environment: str) -> str:
    """Make every Python of an environment import the driver first."""
    library = os.path.join(environment, "lib")
    (version,) = (name for name in os.listdir(library) if name.startswith("python"))
    packages = os.path.join(library, version, "site-packages")
    driver = os.path.join(packages, DRIVER)
    shutil.copytree(os.path.dirname(starting.__file__), driver, ignore=shutil.ignore_patterns("__pycache__"))
    with open(os.path.join(packages, f"{DRIVER}.pth"), "w", encoding="utf-8") as file:
        file.write(f"import {DRIVER}.starting\n")
    return os.path.join(driver, os.path.basename(starting.__file__))


_ADDRESS = "127.0.0.1"
_USUAL_PORT = "29500"
_OF_TORCH = {"NCCL_IB_DISABLE": "1", "NCCL_DEBUG": "WARN"}


def launcher_variables(
    distribution: Distribution | None, hosts: int, instance_type: str, environment: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of rank 0 on the first host, next to those that the script gets anyway."""
    processes = _processes(distribution, instance_type)
    if isinstance(distribution, Torchrun):
        found = _of_torchrun(processes, hosts, distribution.port)
    elif isinstance(distribution, Mpi | SmDataParallel):
        found = _of_mpirun(processes, hosts)
    else:
        return {}
    if isinstance(distribution, Torchrun) and processes > 1:
        found["OMP_NUM_THREADS"] = "1"
    kept = ("OMP_NUM_THREADS", *_OF_TORCH)
    return {name: environment.get(name, value) if name in kept else value for name, value in found.items()}


def _processes(distribution: Distribution | None, instance_type: str) -> int:
    """Return how many processes a host has: by default one per GPU or Neuron core, or one."""
    wanted = getattr(distribution, "processes_per_host", "auto")
    if isinstance(wanted, int):
        return wanted
    known = instance(instance_type)
    return 1 if known is None else known.gpus or known.neuron_cores or 1


def _of_torchrun(processes: int, hosts: int, port: int) -> dict[str, str]:
    """Return what torchrun sets: a script must see all of it, because libraries ask for one or the other."""
    ranks = dict.fromkeys(("RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK"), "0")
    world = str(hosts * processes)
    sizes = {"WORLD_SIZE": world, "ROLE_WORLD_SIZE": world, "LOCAL_WORLD_SIZE": str(processes)}
    address = {"MASTER_ADDR": _ADDRESS, "MASTER_PORT": str(port)}
    if hosts == 1:  # the runtime leaves both to torchrun
        address = {"MASTER_ADDR": "localhost", "MASTER_PORT": _USUAL_PORT}
    elastic = {"RUN_ID": "none", "RESTART_COUNT": "0", "MAX_RESTARTS": "0", "USE_AGENT_STORE": "True"}
    elastic |= {"ERROR_FILE": "/tmp/torchelastic/error.json", "SIGNALS_TO_HANDLE": "SIGTERM,SIGINT,SIGHUP,SIGQUIT"}
    return {
        **ranks,
        **sizes,
        "GROUP_WORLD_SIZE": str(hosts),
        "ROLE_NAME": "default",
        **address,
        **{f"TORCHELASTIC_{name}": value for name, value in elastic.items()},
        "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
        "NCCL_PROTO": "simple",
        **_OF_TORCH,
    }


def _of_mpirun(processes: int, hosts: int) -> dict[str, str]:
    """Return what mpirun of Open MPI sets, except by what a process finds its server: there is none."""
    world = str(hosts * processes)
    ranks = dict.fromkeys(("RANK", "LOCAL_RANK", "NODE_RANK"), "0")
    found = {f"OMPI_COMM_WORLD_{name}": value for name, value in ranks.items()}
    found |= {"OMPI_COMM_WORLD_SIZE": world, "OMPI_COMM_WORLD_LOCAL_SIZE": str(processes)}
    found |= {"OMPI_UNIVERSE_SIZE": world, "OMPI_APP_CTX_NUM_PROCS": world}
    found |= {"OMPI_NUM_APP_CTX": "1", "OMPI_FIRST_RANKS": "0"}
    return {**found, "MASTER_ADDR": _ADDRESS, "MASTER_PORT": "7777", **_OF_TORCH, "NCCL_DEBUG": "INFO"}
