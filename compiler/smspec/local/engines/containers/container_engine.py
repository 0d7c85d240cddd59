"""The engine that runs the image of a job: one container for each host, on a network where their names resolve."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress

from smspec.local.channels.channel_data import MountedChannel
from smspec.local.channels.feeder_process import FeederProcess, own_feeder
from smspec.local.engines.containers.client import (
    Client,
    ClientFailed,
    EngineFacts,
    files_of_others,
    label_of,
    label_of_ended,
    mount,
    sweep,
)
from smspec.local.engines.containers.container_host import ContainerHost
from smspec.local.engines.containers.host_environment import MOST_HOSTS, HostEnvironment, HostNetwork
from smspec.local.engines.containers.image import build_image, pull_image, written_secrets
from smspec.local.engines.containers.sidecar import Companions, FeedingInside, LimitedRoom
from smspec.local.engines.engine import UPLOADS, JobToRun, gpu_differences, gpu_words
from smspec.local.feeder.plan import FeederPlan
from smspec.local.python.wanted import secret_variables
from smspec.local.running.image_content import ImageContent, author_secrets, source_files
from smspec.local.running.request import NO_FAULTS, FaultRefused, RunFailed
from smspec.local.running.run_directory import HOSTS, UPLOAD, HostDirectory, RunDirectory
from smspec.local.running.training_request import Host, TrainingRequest
from smspec.local.watch.memory_watch import memory_limits
from smspec.source.real_file import is_below
from smspec.spec.model import BuiltImage, ExistingImage
from smspec.workspace.git_labels import git_labels

_READ_ONLY = ("/opt/ml/input", UPLOADS)
_RIGHTS = ("--cap-drop", "ALL", "--cap-add", "CHOWN", "--cap-add", "DAC_OVERRIDE")
_STOP_SECONDS = 120
_CGROUPS_V2 = "/sys/fs/cgroup/cgroup.controllers"


class ContainerEngine:
    """Builds or pulls the image, and starts containers. Raises RunFailed for what it cannot run."""

    limits_memory = True
    mounts_data = False

    def __init__(self, run: JobToRun, program: str, *, feeds_inside: bool | None = None) -> None:
        """``feeds_inside``: FIFOs are fed in containers; None: only if those of this machine do not reach them."""
        self.name = program
        self.why = run.why
        self.interface = "eth0"
        self._client = Client(program)
        self._facts = EngineFacts(self._client)
        self._run = run
        self._training = TrainingRequest(run.plan.request.payload)
        self._content = ImageContent(run.job, run.plan, run.tree, run.request)
        self._faults = run.request.faults or NO_FAULTS
        self._feeds_inside = feeds_inside
        self._environment = HostEnvironment(run, self._training, self._facts, self.interface)
        self._joined: Companions | None = None
        self._feedings: dict[str, FeedingInside] = {}
        self._open = ExitStack()
        self.generated_channels = self._content.generated_channels
        author_secrets(run.job.secrets, os.environ)
        if not isinstance(run.job.image, BuiltImage | ExistingImage):
            raise RunFailed(
                3, f"`--engine {program}` needs an image, and the job has an algorithm of SageMaker instead"
            )
        if len(run.hosts) > MOST_HOSTS:
            raise RunFailed(3, f"`--engine {program}` runs at most {MOST_HOSTS} hosts")

    @property
    def title(self) -> str:
        return f"{self.name} ({self._image})"

    @property
    def differences(self) -> list[str]:
        found = gpu_differences(self._run.hosts)
        is_limited = self.name != "podman" or os.geteuid() == 0 or os.path.exists(_CGROUPS_V2)
        if self._run.request.memory is not None and not is_limited:
            found.append("--memory has no effect: without root, podman cannot limit memory with cgroups v1")
        return [*found, *self._environment.differences]

    @property
    def unconfined(self) -> list[str]:
        """Return nothing: what a container reaches is up to its engine."""
        return []

    def mount(self, data: Mapping[tuple[str, str], MountedChannel]) -> None:
        """Do nothing: hosts have copies, which every user of an image can read."""

    def prepare(self, show: Callable[[str], None]) -> None:
        """Remove what killed runs left; build the image, or pull it. Raise RunFailed."""
        sweep(self.name)
        image, plan, request = self._run.job.image, self._run.plan.image, self._run.request
        if not isinstance(image, BuiltImage) or plan is None:
            pull_image(self._client, self._image, show)
        else:
            values = secret_variables(image.secrets, os.environ, request.base_dir)
            secrets = written_secrets(values, plan.secrets, request.scratch_dir)
            labels = git_labels(request.base_dir, (path for _, path in source_files(self._run.tree)))
            build_image(self._client, plan, request.tree_dir, secrets=secrets, labels=labels, show=show)
        for directory in files_of_others(request.directory):
            self._give_back(directory, label_of_ended(request.directory))

    @property
    def python(self) -> str:
        return f"python3 of {self._image}"

    @property
    def python_version(self) -> None:
        return None

    @property
    def locked_packages(self) -> int:
        plan = self._run.plan.image
        return 0 if plan is None or plan.environment is None else len(plan.environment.packages)

    def hyperparameters(self, uploads: str) -> dict[str, str]:
        return self._content.hyperparameters(uploads, UPLOADS)

    def fill(self, directory: HostDirectory) -> None:
        """Do nothing: the image has its files."""

    def feed(self, host: Host, plan: FeederPlan, directory: RunDirectory) -> FeederProcess:
        """Start the feeder of a host: on this machine if its FIFOs reach containers, else in one."""
        if self._feeds_inside is None:
            self._feeds_inside = self._facts.is_apart
        if not self._feeds_inside:
            return own_feeder(host.name, plan, os.path.join(directory.host(host.name).root, "feeder.json"))
        feeding = FeedingInside(self._companions(directory), host.name, plan)
        self._feedings[host.name] = feeding
        self._open.callback(feeding.close)
        return feeding.process

    def start(self, hosts: Sequence[Host], directory: RunDirectory) -> Sequence[ContainerHost]:
        """Create all containers, then start them."""
        companions = self._companions(directory)
        with ExitStack() as undo:
            undo.callback(self._give_back, directory.path(HOSTS), companions.label)
            network = HostNetwork(companions, is_internal=self._environment.is_isolated)
            undo.callback(network.remove)
            variables, secrets = self._environment.variables(companions, network, undo)
            containers = {}
            for host in hosts:
                mounts = self._mounts(directory, host, companions, undo)
                undo.callback(companions.remove, host.name)
                containers[host.name] = self._created(host, companions, network, mounts, variables, secrets)
            started = []
            for host in hosts:
                started.append(ContainerHost(host.name, self._client, containers[host.name], directory.log(host.name)))
                undo.callback(started[-1].kill)
            self._open.callback(undo.pop_all().close)
        return started

    def close(self) -> None:
        """Remove the containers and their network, and make their files the author's."""
        self._open.close()

    def _companions(self, directory: RunDirectory) -> Companions:
        """Return what all containers of this run have in common."""
        if self._joined is None:
            self._joined = Companions(
                client=self._client,
                image=self._image,
                identity=f"smspec-{os.getpid()}-{os.urandom(3).hex()}",
                label=label_of(directory),
            )
        return self._joined

    @property
    def _image(self) -> str:
        image = self._run.job.image
        if isinstance(image, ExistingImage):
            return image.uri
        assert self._run.plan.image is not None
        return self._run.plan.image.uri

    def _created(
        self,
        host: Host,
        companions: Companions,
        network: HostNetwork,
        mounts: Sequence[str],
        variables: Mapping[str, str],
        secrets: Mapping[str, str],
    ) -> str:
        """Create the container of a host; return its identifier. ``secrets``: variables in no list of arguments."""
        words = ["create", "--name", f"{companions.identity}-{host.name}", "--hostname", host.name]
        words += ["--label", companions.label, *network.options(network.address(host.rank))]
        words += [f"--add-host={each.name}:{network.address(each.rank)}" for each in self._run.hosts]
        limit = memory_limits(self._run.request.memory, [host]).get(host.name)
        if limit is not None:
            words += [f"--memory={limit}", f"--memory-swap={limit}"]
        words += gpu_words(self.name, host)
        words += ["--stop-timeout", str(_STOP_SECONDS), f"--shm-size={_half_of_the_memory()}"]
        words += [word for each in mounts for word in ("--mount", each)]
        for variable, value in variables.items():
            words += ["--env", f"{variable}={value}"]
        for variable in secrets:
            words += ["--env", variable]
        entrypoint, *arguments = self._command()
        words += ["--entrypoint", entrypoint] if entrypoint else []
        try:
            # Before it, podman may print what it has pulled.
            return self._client.run(*words, self._image, *arguments, variables=secrets).rpartition("\n")[2]
        except ClientFailed as fault:
            raise RunFailed(3, f"`{self.name} create` failed: {fault}") from None

    def _command(self) -> list[str]:
        """Return the entrypoint, empty for that of the image, and the arguments: `train` if the request has neither."""
        algorithm = self._training.payload.get("AlgorithmSpecification")
        members = algorithm if isinstance(algorithm, dict) else {}
        entrypoint = [str(word) for word in members.get("ContainerEntrypoint", ())]
        arguments = [str(word) for word in members.get("ContainerArguments", ())]
        if not entrypoint:
            return ["", *(arguments or ["train"])]
        return [*entrypoint, *arguments]

    def _mounts(self, directory: RunDirectory, host: Host, companions: Companions, undo: ExitStack) -> list[str]:
        """Return what SageMaker mounts, one by one: a mount over /opt/ml would hide the source in the image."""
        places = self._with_limited_room(self._places(directory, host), host, companions, undo)
        protected = [*_READ_ONLY, *(["/opt/ml/model"] if self._faults.protects_model else [])]
        mounts = [mount(source, target, is_read_only=target in protected) for source, target in places]
        feeding = self._feedings.get(host.name)
        return mounts if feeding is None else [*mounts, *feeding.mounts]

    def _places(self, directory: RunDirectory, host: Host) -> list[tuple[str, str]]:
        """Return the directories of a host on this machine, and where its container has them."""
        place = directory.host(host.name)
        mounts = [(os.path.join(place.base, name), f"/opt/ml/{name}") for name in ("input", "model", "output")]
        checkpoints = self._training.checkpoint_place
        if checkpoints and not any(is_below(f"/{checkpoints}", target) for _, target in mounts):
            mounts.append((os.path.join(place.root, checkpoints), f"/{checkpoints}"))
        uploads = directory.path(UPLOAD)
        return [*mounts, (os.path.abspath(uploads), UPLOADS)] if os.path.isdir(uploads) else mounts

    def _with_limited_room(
        self, places: list[tuple[str, str]], host: Host, companions: Companions, undo: ExitStack
    ) -> list[tuple[str, str]]:
        """Move what the job writes to a volume of limited size, if that fault is injected."""
        if self._faults.room is None:
            return places
        limited = [source for source, target in places if target not in _READ_ONLY]
        try:
            room = LimitedRoom(companions, host.name, self._faults.room, limited)
        except ClientFailed as fault:
            raise FaultRefused(f"`--engine {self.name}` cannot limit the disk of a host: {fault}") from None
        undo.callback(room.close)
        moved = dict(zip(limited, room.places, strict=True))
        return [(moved.get(source, source), target) for source, target in places]

    def _give_back(self, directory: str, label: str) -> None:
        """Make the files that containers wrote as another user the author's, so that they can be read and removed."""
        if os.geteuid() == 0:
            return
        if self.name == "podman" and self._facts.is_rootless:
            # Needs no image, which may be gone, and no program in it.
            with suppress(ClientFailed):
                self._client.run("unshare", "chown", "-hR", "0:0", os.path.abspath(directory))
                return
        owner = "0:0" if self._facts.is_rootless else f"{os.geteuid()}:{os.getegid()}"
        give_files(self._client, self._image, directory, owner=owner, label=label)


def _half_of_the_memory() -> int:
    """Return the size of /dev/shm in bytes; Docker's own 64 MB are too few for the workers of a DataLoader."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def give_files(client: Client, image: str, directory: str, *, owner: str, label: str) -> None:
    """Change the owner of everything in the directories of the hosts below ``directory``, if that is possible.

    The `chown` is that of the image, which may come from a stranger, and root runs it. It reaches what the job could
    write, and nothing above: the mode of the directory of all hosts is what keeps other users of this machine from
    programs in it. Nothing of it runs afterwards. If smspec is killed, the next run removes what has the ``label``.
    """
    with os.scandir(directory) as entries:
        hosts = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    if not hosts:
        return
    name = f"smspec-{os.getpid()}-{os.urandom(3).hex()}-owner"
    words = ["run", "--rm", "--name", name, "--label", label, "--user", "0:0", "--network", "none", *_RIGHTS]
    for host in hosts:
        words += ["--mount", mount(os.path.join(os.path.abspath(directory), host), f"/hosts/{host}")]
    try:
        with suppress(ClientFailed):
            client.run(*words, "--entrypoint", "chown", image, "-R", owner, *(f"/hosts/{host}" for host in hosts))
    finally:
        client.try_to("rm", "--force", "--volumes", name)  # the client may have ended before its container
