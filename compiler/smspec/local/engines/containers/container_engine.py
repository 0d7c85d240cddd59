"""The engine that runs the image of a job: one container for each host, on a network where their names resolve."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from smspec.local.engines.containers.client import Client, ClientFailed
from smspec.local.engines.containers.container_host import ContainerHost
from smspec.local.engines.containers.image import build_image, pull_image, written_secrets
from smspec.local.engines.containers.leftovers import files_of_others, label_of, remove_leftovers
from smspec.local.engines.containers.mounts import mount
from smspec.local.engines.containers.network import MOST_HOSTS, Network
from smspec.local.engines.engine import BY_NAME, UPLOADS, JobToRun
from smspec.local.gpus import gpu_differences, gpu_words
from smspec.local.image_content import ImageContent
from smspec.local.job_secrets import author_secrets
from smspec.local.job_variables import variables_of_sagemaker
from smspec.local.memory_limit import memory_limits
from smspec.local.python.build_secrets import secret_variables
from smspec.local.request import RunFailed
from smspec.local.run_directory import HOSTS, UPLOAD, HostDirectory, RunDirectory
from smspec.local.surroundings import NO_FAULTS
from smspec.local.training_request import Host, TrainingRequest
from smspec.render.run_marker import RUN_MARKER
from smspec.spec.model import BuiltImage, ExistingImage

_READ_ONLY = ("/opt/ml/input", UPLOADS)
_STOP_SECONDS = 120
_CGROUPS_V2 = "/sys/fs/cgroup/cgroup.controllers"


class ContainerEngine:
    """Builds or pulls the image, and starts containers. Raises RunFailed for what it cannot run."""

    limits_memory = True

    def __init__(self, run: JobToRun, program: str) -> None:
        self.name = program
        self.why = run.why
        self.interface = "eth0"
        self._client = Client(program)
        self._run = run
        self._training = TrainingRequest(run.plan.request.payload)
        self._content = ImageContent(run.job, run.plan, run.tree, run.request)
        self._faults = run.request.faults or NO_FAULTS
        self._open = ExitStack()
        self.generated_channels = self._content.generated_channels
        author_secrets(run.job.secrets, os.environ)
        if not isinstance(run.job.image, BuiltImage | ExistingImage):
            raise RunFailed(
                3, f"`--engine {program}` needs an image, and the job has an algorithm of SageMaker instead"
            )
        if len(run.hosts) > MOST_HOSTS:
            raise RunFailed(3, f"`--engine {program}` runs at most {MOST_HOSTS} hosts")
        if sys.platform != "linux" and any(channel.mode == "Pipe" for channel in self._training.channels):
            raise RunFailed(
                3, f"`{program}` runs containers in a virtual machine, which FIFOs do not reach: use File mode"
            )

    @property
    def title(self) -> str:
        return f"{self.name} ({self._image})"

    @property
    def differences(self) -> list[str]:
        found = gpu_differences(self._run.hosts)
        is_limited = self.name != "podman" or os.geteuid() == 0 or os.path.exists(_CGROUPS_V2)
        if self._run.request.memory is not None and not is_limited:
            found.append("--memory has no effect: without root, podman cannot limit memory with cgroups v1")
        return found

    def prepare(self, show: Callable[[str], None]) -> None:
        """Remove what killed runs left; build the image, or pull it. Raise RunFailed."""
        remove_leftovers(self._client)
        image, plan, request = self._run.job.image, self._run.plan.image, self._run.request
        if not isinstance(image, BuiltImage) or plan is None:
            pull_image(self._client, self._image, show)
        else:
            values = secret_variables(image.secrets, os.environ, request.base_dir)
            secrets = written_secrets(values, plan.secrets, request.scratch_dir)
            build_image(self._client, plan, request.tree_dir, secrets, show)
        for directory in files_of_others(request.directory):
            self._give_back(directory)

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

    def start(self, hosts: Sequence[Host], directory: RunDirectory) -> Sequence[ContainerHost]:
        """Create all containers, then start them."""
        label = label_of(directory.path(RUN_MARKER))
        identity = f"smspec-{os.getpid()}-{os.urandom(3).hex()}"
        client = self._client
        with ExitStack() as undo:
            network = Network(client, identity, label, is_internal=self._is_isolated)
            undo.callback(network.remove)
            names = {host.name: f"{identity}-{host.name}" for host in hosts}
            for host in hosts:
                undo.callback(client.try_to, "rm", "--force", "--volumes", names[host.name])
                self._create(host, names[host.name], network, label, directory)
            undo.callback(self._give_back, directory.path(HOSTS))
            started = []
            for host in hosts:
                started.append(ContainerHost(host.name, client, names[host.name], directory.log(host.name)))
                undo.callback(started[-1].kill)
            self._open = undo.pop_all()
        return started

    def close(self) -> None:
        """Remove the containers and their network, and make their files the author's."""
        self._open.close()

    @property
    def _image(self) -> str:
        image = self._run.job.image
        if isinstance(image, ExistingImage):
            return image.uri
        assert self._run.plan.image is not None
        return self._run.plan.image.uri

    @property
    def _is_isolated(self) -> bool:
        return bool(self._training.payload.get("EnableNetworkIsolation"))

    def _create(self, host: Host, name: str, network: Network, label: str, directory: RunDirectory) -> None:
        words = ["create", "--name", name, "--hostname", host.name, "--label", label]
        words += ["--network", network.name, "--ip", network.address(host.rank)]
        words += [f"--add-host={each.name}:{network.address(each.rank)}" for each in self._run.hosts]
        limit = memory_limits(self._run.request.memory, [host]).get(host.name)
        if limit is not None:
            words += [f"--memory={limit}", f"--memory-swap={limit}"]
        words += gpu_words(self.name, host)
        words += ["--stop-timeout", str(_STOP_SECONDS), f"--shm-size={_half_of_the_memory()}"]
        for source, target in self._mounts(directory, host):
            is_protected = self._faults.protects_model and target == "/opt/ml/model"
            words += ["--mount", mount(source, target, is_read_only=is_protected or target in _READ_ONLY)]
        variables = {
            **variables_of_sagemaker(self._run.job, self._training, os.environ, self.interface),
            **self._training.environment,
        }
        secrets = author_secrets(self._run.job.secrets, os.environ)
        if secrets:
            variables["SMSPEC_LOCAL_LEADER"] = BY_NAME
        for variable, value in variables.items():
            words += ["--env", f"{variable}={value}"]
        for variable in secrets:
            words += ["--env", variable]  # with its value in this process: it is in no list of arguments
        entrypoint, *arguments = self._command()
        words += ["--entrypoint", entrypoint] if entrypoint else []
        try:
            self._client.run(*words, self._image, *arguments, variables=secrets)
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

    def _mounts(self, directory: RunDirectory, host: Host) -> list[tuple[str, str]]:
        """Return what SageMaker mounts, one by one: a mount over /opt/ml would hide the source in the image."""
        base = directory.host(host.name).base
        mounts = [(os.path.join(base, name), f"/opt/ml/{name}") for name in ("input", "model", "output")]
        checkpoints = self._training.checkpoint_directory
        if checkpoints is not None:
            checkpoints = os.path.normpath(checkpoints)
            below = os.path.relpath(checkpoints, "/opt/ml")
            if not below.startswith("..") and not below.startswith(("input", "model", "output")):
                mounts.append((os.path.join(base, below), checkpoints))
        uploads = directory.path(UPLOAD)
        return [*mounts, (os.path.abspath(uploads), UPLOADS)] if os.path.isdir(uploads) else mounts

    def _give_back(self, directory: str) -> None:
        """Make the files that containers wrote as another user the author's, so that they can be read and removed."""
        if os.geteuid() == 0:
            return
        owner = "0:0" if self._is_rootless() else f"{os.geteuid()}:{os.getegid()}"
        files = mount(os.path.abspath(directory), "/hosts")
        command = ("--entrypoint", "chown", self._image, "-R", owner, "/hosts")
        self._client.try_to("run", "--rm", "--user", "0:0", "--network", "none", "--mount", files, *command)

    def _is_rootless(self) -> bool:
        """Return whether root of a container is the author."""
        try:
            return "rootless" in self._client.run("info", "--format", "{{json .}}").lower().replace(
                '"rootless":false', ""
            )
        except ClientFailed:
            return False


def _half_of_the_memory() -> int:
    """Return the size of /dev/shm in bytes; Docker's own 64 MB are too few for the workers of a DataLoader."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
