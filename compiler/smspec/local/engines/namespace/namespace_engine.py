"""The engine for Linux that needs neither root nor Docker: a host has a root, a network, and processes of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

from smspec.local.channels.channel_data import MountedChannel
from smspec.local.engines.engine import BY_NAME, UPLOADS, JobToRun, gpu_differences
from smspec.local.engines.namespace import availability, mpi
from smspec.local.engines.namespace.availability import probe
from smspec.local.engines.namespace.cell.plan import Bind, CellPlan, Data, HostPlan, Volume
from smspec.local.engines.namespace.cell_process import CellProcess, NamespaceHost, give_back, own_range
from smspec.local.engines.namespace.machine_paths import (
    author_binds,
    kept_variables,
    named_places,
    python_binds,
    sockets_below,
    unsearched_place,
)
from smspec.local.engines.process import LOOPBACK, PythonOfEngine, free_ports, loopback_interface, require_torchrun
from smspec.local.python.job_python import JobPython, described
from smspec.local.python.wanted import wanted_python
from smspec.local.running.image_content import (
    ImageContent,
    author_secrets,
    image_differences,
    job_variables,
    set_by_the_job,
)
from smspec.local.running.request import NO_FAULTS, RunFailed
from smspec.local.running.run_directory import HOSTS, INTERRUPTED, UPLOAD, HostDirectory, RunDirectory, has_other_owners
from smspec.local.running.training_request import Host, TrainingRequest
from smspec.local.watch.host_log import HostLog
from smspec.source.real_file import is_below, remove_tree

_INSIDE = HostDirectory("/")
_OWN_PYTHON = "/opt/python"
"""The environment of the job where this machine's Python is in /usr/local, the place that it has in images."""

_TEMPORARY = ".tmp"
"""The /tmp of a host, in its directory until the run ends: that disk has the room that the author chose."""

_SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_UNMOUNTED = (
    "/bin",
    "/dev",
    "/gnu",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/opt/smspec",
    "/proc",
    "/sbin",
    "/sys",
)
"""Where checkpoints would hide, or lie in, what every program of a host needs."""

_NETWORK, _FIRST_ADDRESS, _MOST_HOSTS = "10.0.2.", 101, 150


class NamespaceEngine(PythonOfEngine):
    """Prepares the directories of hosts, and a plan for the cell that starts them. Raises RunFailed."""

    name = "namespace"
    mounts_data = True

    def __init__(self, run: JobToRun) -> None:
        job, plan, request = run.job, run.plan, run.request
        if plan.run is None and job.source is None:
            raise RunFailed(
                3,
                "the training script of this job is inside its image, and the engine `namespace` starts no containers: "
                "set `source` and `entry_point` in the spec, or pass --engine docker",
            )
        mpi.refuse_smdataparallel(job)
        author_secrets(job.secrets, os.environ)
        self.why = run.why
        self._job = job
        self._training = TrainingRequest(plan.request.payload)
        self._content = ImageContent(job, plan, run.tree, request)
        self._request = request
        self._hosts = run.hosts
        self._starts_python = mpi.starts_python(plan)
        self._wanted = wanted_python(job, plan, run.tree, request.requirements, request.startup)
        self._python = JobPython(self._wanted, request, run.cache)
        lent = self._python.is_lent
        self._named, self._unsafe = named_places(self._python.interpreter) if lent else ([], [])
        self._refuse_place_of_checkpoints()
        self._is_isolated = bool(self._training.payload.get("EnableNetworkIsolation"))
        self._missing = availability.missing_for_internet()
        self._has_network = self._needs_network() and probe().has_network
        if len(run.hosts) > 1 and not self._has_network:
            raise RunFailed(3, "this kernel cannot connect several hosts: it has no bridges or no veth interfaces")
        if len(run.hosts) > _MOST_HOSTS:
            raise RunFailed(3, f"the engine `namespace` has addresses for {_MOST_HOSTS} hosts; pass a smaller --hosts")
        self._has_internet = self._has_network and not self._is_isolated and not self._missing
        self._users = own_range()
        self._data: Mapping[tuple[str, str], MountedChannel] = {}
        self._cell: CellProcess | None = None
        self._faults = request.faults or NO_FAULTS
        self._volumes: list[Volume] = []
        self._unsearched: list[str] = []
        self._open = ExitStack()
        self.interface = "eth0" if self._has_network else loopback_interface()
        self.generated_channels = self._content.generated_channels

    def _needs_network(self) -> bool:
        """Without slirp4netns, one host shares the network of this machine: it could not reach anything else."""
        return len(self._hosts) > 1 or self._is_isolated or not self._missing

    @property
    def title(self) -> str:
        return f"{self.name} ({described(self._python)})"

    @property
    def differences(self) -> list[str]:
        """Return how this machine, its network, and the job's Python differ from SageMaker."""
        found = [*self._python.differences, *image_differences(self._job), *gpu_differences(self._hosts)]
        found += [
            f"hosts do not see `{place}`, which a package of {self._python.interpreter.executable} names: it is not a "
            "Python project of yours"
            for place in self._unsafe
        ]
        if not self._has_network:
            found.append(
                "`network.isolation` is not enforced: this kernel has no bridges or no veth interfaces"
                if self._is_isolated
                else f"the host shares the network of this machine, without `eth0`: {self._missing}"
            )
        elif not self._has_internet and not self._is_isolated:
            found.append(f"the hosts cannot reach the internet: {self._missing}")
        elif self._has_internet and not self._request.reaches_loopback:
            names = availability.loopback_variables(kept_variables(os.environ))
            found += [
                f"`{name}` is an address of this machine, which hosts reach only with --host-loopback" for name in names
            ]
        return found

    @property
    def unconfined(self) -> list[str]:
        """Return what this kernel and its file systems left open."""
        found = [] if self._has_network else ["the network of this machine"]
        if self._cell is not None and self._cell.is_machine_root:
            found.append("root of this machine, as which the job runs: a file system here cannot map owners")
        if self._cell is not None and not self._cell.filters_calls:
            found.append("system calls, whose numbers on this processor are unknown")
        return [*found, *map(unsearched_place, self._unsearched)]

    def prepare(self, show: Callable[[str], None]) -> None:
        """Install what the hosts share, if it is missing. Raise RunFailed."""
        self._take_back_files()
        self._python.prepare(may_install=self._request.may_install, show=show)
        self._refuse_place_of_checkpoints()  # again: now the places of packages are known
        if not self._wanted.installs:
            path = os.pathsep.join([*self._python.programs, *_SYSTEM_PATH])
            require_torchrun(self._job, path)
            if mpi.uses_mpi(self._job):
                mpi.require_mpi(path, self._python.libraries if self._starts_python else ())

    def hyperparameters(self, uploads: str) -> dict[str, str]:
        return self._content.hyperparameters(uploads, UPLOADS)

    def fill(self, directory: HostDirectory) -> None:
        """Copy source and runtime to a host's directory, and create its Python environment."""
        self._content.fill(directory)
        os.makedirs(os.path.join(directory.root, UPLOADS.lstrip("/")), exist_ok=True)
        self._python.make_environment_in(directory.python, self._environment_place)
        if mpi.uses_mpi(self._job):
            mpi.add_client(directory.python, self._program)

    def mount(self, data: Mapping[tuple[str, str], MountedChannel]) -> None:
        self._data = data

    def start(self, hosts: Sequence[Host], directory: RunDirectory) -> Sequence[NamespaceHost]:
        """Start all hosts in one cell."""
        logs: dict[str, HostLog] = {}
        with ExitStack() as unused:
            for host in hosts:
                logs[host.name] = log = HostLog(directory.log(host.name))
                unused.callback(log.close)
            path = os.path.join(self._request.scratch_dir, "cell.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(self._plan(hosts, directory, logs).to_json())
            self._cell = cell = CellProcess(path, [stream for log in logs.values() for stream in log.streams])
            self._open.callback(cell.close)
            cell.run_hosts(self._connect, self._users)
            unused.pop_all()
        for log in logs.values():
            log.close_streams()
        return [NamespaceHost(host.name, cell, logs[host.name]) for host in hosts]

    def close(self) -> None:
        """End the cell, and its way to the internet."""
        self._open.close()
        self._python.close()

    def _take_back_files(self) -> None:
        """Let this run replace the directory of a killed one, whose files may belong to other users."""
        earlier = [os.path.join(self._request.directory, name) for name in (HOSTS, INTERRUPTED)]
        if self._users is not None and any(map(has_other_owners, earlier)):
            give_back([os.path.abspath(directory) for directory in earlier], self._users)

    def _connect(self, process: int) -> bool:
        if self._has_internet:
            way = availability.Internet(process, reaches_loopback=self._request.reaches_loopback)
            self._open.callback(way.close)
        return self._has_internet

    def _plan(self, hosts: Sequence[Host], directory: RunDirectory, logs: Mapping[str, HostLog]) -> CellPlan:
        mount_point = os.path.join(os.path.abspath(self._request.scratch_dir), "root")
        os.makedirs(mount_point, exist_ok=True)
        of_author = author_binds({} if self._is_isolated else os.environ)
        shared = [*python_binds([*self._python.places, *self._named]), *of_author]
        lent = python_binds([*self._python.lent_places, *self._named])
        searched = [bind.source for bind in (*lent, *of_author)]
        if mpi.uses_mpi(self._job):
            shared.append(mpi.shared_bind(self._request.scratch_dir))
        binds = {host.name: self._binds(directory, host) for host in hosts}
        listening = sockets_below(searched, [bind.source for bind in shared])
        self._unsearched = listening.unsearched
        leader = BY_NAME if self._has_network else f"{LOOPBACK}:{','.join(map(str, free_ports(4)))}"
        return CellPlan(
            mount_point=mount_point,
            has_network=self._has_network,
            gateway=availability.GATEWAY if self._has_internet else "",
            resolver=availability.RESOLVER if self._has_internet else "",
            addresses={host.name: self._address(host) for host in self._hosts},
            owned=[directory.host(host.name).root for host in hosts],
            mode=directory.hosts_mode,
            hidden=_seen_as(listening.paths, of_author),
            has_range=self._users is not None,
            added_programs=mpi.added_programs(self._program) if mpi.uses_mpi(self._job) else {},
            hosts=[
                HostPlan(
                    name=host.name,
                    address=self._address(host),
                    program=self._program,
                    words=self._content.words("python3", _INSIDE),
                    environment=self._environment(directory.host(host.name), host, leader),
                    directory=self._content.working_directory(_INSIDE),
                    streams=logs[host.name].streams,
                    binds=[*(bind for bind in binds[host.name] if bind.target != self._resumed), *shared],
                    resumed=[bind for bind in binds[host.name] if bind.target == self._resumed],
                    data=[
                        Data(f"/opt/ml/input/data/{channel}", data.directory, data.files)
                        for (name, channel), data in self._data.items()
                        if name == host.name
                    ],
                )
                for host in hosts
            ],
            volumes=self._volumes,
        )

    def _refuse_place_of_checkpoints(self) -> None:
        """Raise RunFailed if no host can have its checkpoints where the spec puts them."""
        place = self._resumed
        is_of_python = place == self._environment_place
        is_of_the_system = f"{place}/".startswith("/usr/") and not place.startswith(f"{self._environment_place}/")
        would_hide = [each.target for each in python_binds([*self._python.places, *self._named])]
        is_of_python |= any(f"{each}/".startswith(f"{place}/") for each in would_hide)
        if is_of_python or is_of_the_system or any(_contains(each, place) for each in _UNMOUNTED):
            raise RunFailed(
                3,
                f"`checkpoints.local` is {place}, where a host of the engine `namespace` has programs and "
                "devices: use a different directory such as /opt/ml/checkpoints, or pass --engine process",
            )

    @property
    def _resumed(self) -> str:
        """The directory of checkpoints on a host."""
        return os.path.normpath(self._training.checkpoint_directory or "/opt/ml/checkpoints").replace("//", "/")

    def _address(self, host: Host) -> str:
        return f"{_NETWORK}{_FIRST_ADDRESS + host.rank}" if self._has_network else LOOPBACK

    def _binds(self, directory: RunDirectory, host: Host) -> list[Bind]:
        """Return what a container mounts, one by one: a file cannot be renamed from the model to the output."""
        place = directory.host(host.name)
        temporary = os.path.join(place.root, _TEMPORARY)
        os.makedirs(temporary)
        os.chmod(temporary, 0o1777)
        self._open.callback(remove_tree, temporary, ignore_errors=True)
        binds = [
            Bind(place.base, "/opt/ml", True),
            Bind(os.path.join(place.base, "input"), "/opt/ml/input"),
            Bind(place.model, "/opt/ml/model", not self._faults.protects_model),
            *(Bind(os.path.join(place.base, name), f"/opt/ml/{name}", True) for name in ("output", "code")),
            Bind(os.path.join(place.base, "checkpoints"), "/opt/ml/checkpoints", True),
            Bind(place.runtime, "/opt/smspec", True),
            Bind(place.python, self._environment_place, True),
            Bind(temporary, "/tmp", True),
        ]
        checkpoints = self._resumed
        if checkpoints.startswith("/") and not any(_contains(each.target, checkpoints) for each in binds[1:-1]):
            # A job can rename a directory that has a mount point, not the mount point, and put a link in its place.
            above = [checkpoints[: match.start()] for match in re.finditer("/", checkpoints)]
            places = [path for path in above if path.startswith("/opt/ml/")] + [checkpoints]
            binds += [Bind(place.root + path, path, True) for path in places]
        binds = self._with_limited_room(binds, host)
        uploads = directory.path(UPLOAD)
        return [*binds, Bind(os.path.abspath(uploads), UPLOADS)] if os.path.isdir(uploads) else binds

    def _with_limited_room(self, binds: list[Bind], host: Host) -> list[Bind]:
        """Move what the job writes and SageMaker keeps to a volume of limited size, if that fault is injected."""
        if self._faults.room is None:
            return binds
        checkpoints = self._resumed
        kept = ("/opt/ml/model", "/opt/ml/output", "/opt/ml/checkpoints", checkpoints)
        limited = [bind.source for bind in binds if bind.target in kept]
        place = os.path.join(os.path.abspath(self._request.scratch_dir), f"{host.name}.volume")
        os.makedirs(place)
        self._volumes.append(Volume(place, self._faults.room, limited))
        places = {source: self._volumes[-1].path(number) for number, source in enumerate(limited)}
        return [bind._replace(source=places.get(bind.source, bind.source)) for bind in binds]

    def _from_the_hosts(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return variables with the addresses under which hosts reach this machine, if they can."""
        if not (self._has_internet and self._request.reaches_loopback):
            return dict(variables)
        names = availability.loopback_variables(variables)
        return {**variables, **{name: availability.to_this_machine(variables[name]) for name in names}}

    @property
    def _environment_place(self) -> str:
        """The environment of the job on a host."""
        is_taken = any(f"{os.path.realpath(path)}/".startswith("/usr/local/") for path in self._python.places)
        return _OWN_PYTHON if is_taken or not os.path.isdir("/usr/local") else _INSIDE.python

    @property
    def _program(self) -> str:
        return os.path.join(self._environment_place, "bin", "python3")

    def _environment(self, place: HostDirectory, host: Host, leader: str) -> dict[str, str]:
        """Return the environment of a container, with the author's way to AWS and to an index."""
        inherited = {} if self._is_isolated else kept_variables(os.environ)
        inherited = self._from_the_hosts(inherited)
        kept = self._python.variables(inherited, place.python, may_install=self._request.may_install)
        if kept.get("PIP_CONFIG_FILE", "").startswith(place.python):
            kept["PIP_CONFIG_FILE"] = self._environment_place + kept["PIP_CONFIG_FILE"].removeprefix(place.python)
        of_system = {"PATH": os.pathsep.join(_SYSTEM_PATH)}
        path = {**of_system, **set_by_the_job(self._job, self._training, of_system)}["PATH"]
        programs = [os.path.join(self._environment_place, "bin"), *self._python.programs]
        return {
            **kept,
            "HOME": "/root",
            "HOSTNAME": host.name,
            **job_variables(self._job, self._training, os.environ, self.interface),
            "PATH": os.pathsep.join(dict.fromkeys([*programs, *path.split(os.pathsep)])),
            "SMSPEC_LOCAL_LEADER": leader,
            **self._from_the_hosts(self._faults.variables),
        }


def _contains(first: str, second: str) -> bool:
    """Return whether one of two directories is the other one, or above it."""
    return f"{first}/".startswith(f"{second}/") or f"{second}/".startswith(f"{first}/")


def _seen_as(paths: Sequence[str], binds: Sequence[Bind]) -> list[str]:
    """Return paths as hosts see them: at their own place, or where a bind shows them."""
    moved = [
        bind.target + path.removeprefix(real)
        for path in paths
        for bind in binds
        if is_below(path, real := os.path.realpath(bind.source))
    ]
    return [*paths, *moved]
