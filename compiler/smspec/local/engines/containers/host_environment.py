"""The surroundings of the containers of a run: their network, their variables, and servers of this machine.

A job that reads S3 runs with a role in SageMaker, so a container gets the credentials that variables contain.
"""

from __future__ import annotations

import os
import random
import re
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

from smspec.local.engines.containers.client import ClientFailed, EngineFacts, mount
from smspec.local.engines.containers.inside import inside_words
from smspec.local.engines.containers.inside.relay import listen, started
from smspec.local.engines.containers.sidecar import Companions, Sidecar
from smspec.local.engines.engine import BY_NAME, JobToRun
from smspec.local.running.image_content import author_secrets, variables_of_sagemaker
from smspec.local.running.request import NO_FAULTS, FaultRefused, RunFailed
from smspec.local.running.training_request import TrainingRequest

_LOOPBACK = re.compile(r"(?<=://)(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?=[:/]|$)")
_INSIDE = "/relay"
_NAMES_OF_MACHINE = {"docker": "host.docker.internal", "podman": "host.containers.internal"}
_NAME_OF_LIMA = "host.lima.internal"
MOST_HOSTS = 200
_RELAY, _FIRST_HOST = 5, 10
_ATTEMPTS = 20
_OVERLAP = ("overlap", "already in use", "already used", "subnet")
_NAMES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_EC2_METADATA_DISABLED",
    "AWS_MAX_ATTEMPTS",
    "AWS_RETRY_MODE",
)
"""Others name files and profiles, which an image does not have."""

_ENDPOINT = "AWS_ENDPOINT_URL"


def loopback_servers(variables: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """Return the variables that are URLs of this machine, and the address of each server."""
    found = {}
    for name, value in variables.items():
        if _LOOPBACK.search(value):
            with suppress(ValueError):  # a port that is no number
                parts = urlsplit(value)
                found[name] = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
    return found


class LoopbackRelay:
    """The way from containers to servers on the loopback interface of this machine, such as an S3 server for tests.

    A container on the network of the hosts listens for them. On Linux it passes connections on through a UNIX socket in
    a directory of this machine, so neither a firewall nor the network of the engine matters. Virtual machines share no
    sockets, but their engines have a name for the machine around them.
    """

    def __init__(
        self,
        companions: Companions,
        network: Sequence[str],
        address: str,
        servers: Sequence[tuple[str, int]],
        directory: str | None,
    ) -> None:
        """``network``: the options that put a container on it, and ``address`` its own there.

        ``directory``: an empty one, None for a virtual machine. Raise ClientFailed; nothing is left then.
        """
        self._address = address
        self._open = ExitStack()
        with ExitStack() as undo:
            targets = {}
            for server in dict.fromkeys(servers):
                if directory is None:
                    name = _NAMES_OF_MACHINE.get(companions.client.program, _NAME_OF_LIMA)
                    targets[server[1]] = f"{name}:{server[1]}"
                elif server[1] not in targets:
                    undo.callback(_Door(os.path.join(directory, str(server[1])), server).close)
                    targets[server[1]] = f"{_INSIDE}/{server[1]}"
            options = [*network, *(() if directory is None else ("--mount", mount(directory, _INSIDE)))]
            words = inside_words("relay", *(f"{port}={target}" for port, target in targets.items()))
            undo.callback(Sidecar(companions, "relay", options, words).close)
            self._open = undo.pop_all()

    def reached(self, value: str) -> str:
        """Return a URL of this machine as hosts reach it."""
        parts = urlsplit(value)
        port = "" if parts.port else ":443" if parts.scheme == "https" else ":80"
        return _LOOPBACK.sub(f"{self._address}{port}", value)

    def close(self) -> None:
        """Break all connections."""
        self._open.close()


class _Door:
    """A UNIX socket that leads to a server of this machine."""

    def __init__(self, path: str, server: tuple[str, int]) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(128)
        started(listen, self._listener, f"{server[0]}:{server[1]}")

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


class HostNetwork:
    """Each host has a fixed address, so that names resolve before the other hosts are up.

    Docker resolves a name only once its container runs, and nerdctl has no aliases. ``is_internal``: hosts reach each
    other, and nothing else.
    """

    def __init__(self, companions: Companions, *, is_internal: bool) -> None:
        """Create it with the identity of the run. Raise RunFailed."""
        self.name = companions.identity
        self._client = companions.client
        self._prefix = self._created(companions.label, is_internal)

    def address(self, rank: int) -> str:
        """Return the address of a host; ``rank`` counts from 0."""
        return f"{self._prefix}.{_FIRST_HOST + rank}"

    @property
    def relay_address(self) -> str:
        """Return the address of the container that leads to this machine."""
        return f"{self._prefix}.{_RELAY}"

    def options(self, address: str) -> list[str]:
        """Return the options that give a container an address on the network."""
        return ["--network", self.name, "--ip", address]

    def remove(self) -> None:
        self._client.try_to("network", "rm", self.name)

    def _created(self, label: str, is_internal: bool) -> str:
        """Create the network with a range of addresses that no other network has; return the first three numbers."""
        fault: ClientFailed | None = None
        for number in random.sample(range(1, 255), _ATTEMPTS):
            prefix = f"10.213.{number}"
            words = ["network", "create", "--label", label, "--subnet", f"{prefix}.0/24"]
            try:
                self._client.run(*words, *(["--internal"] if is_internal else []), self.name)
            except ClientFailed as failed:
                fault = failed
                if not any(word in str(failed).lower() for word in _OVERLAP):
                    break
            else:
                return prefix
        raise RunFailed(3, f"`{self._client.program} network create` failed: {fault}")


class HostEnvironment:
    """What all hosts have in their environment: from SageMaker, the spec, the author, and injected faults."""

    def __init__(self, run: JobToRun, training: TrainingRequest, facts: EngineFacts, interface: str) -> None:
        self._run = run
        self._training = training
        self._facts = facts
        self._interface = interface
        self.is_isolated = bool(training.payload.get("EnableNetworkIsolation"))
        self._inherited = {} if self.is_isolated else author_variables(os.environ)
        self._faults = (run.request.faults or NO_FAULTS).variables

    @property
    def differences(self) -> list[str]:
        """Return which servers the hosts do not reach."""
        if self._run.request.reaches_loopback:
            return []
        return [
            f"`{name}` is an address of this machine, which hosts reach only with --host-loopback"
            for name in loopback_servers(self._inherited)
        ]

    def variables(
        self, companions: Companions, network: HostNetwork, undo: ExitStack
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return the variables, and apart from them those that may be secret.

        Start what leads to servers of this machine, if hosts need it; ``undo`` ends it. Raise RunFailed.
        """
        inherited, faults = dict(self._inherited), dict(self._faults)
        relay = self._relay(companions, network)
        if relay is not None:
            undo.callback(relay.close)
            inherited = {name: relay.reached(value) for name, value in inherited.items()}
            faults = {name: relay.reached(value) for name, value in faults.items()}
        secrets = author_secrets(self._run.job.secrets, os.environ)
        variables = {
            **variables_of_sagemaker(self._run.job, self._training, os.environ, self._interface),
            **self._training.environment,
            **faults,
        }
        if secrets:
            variables["SMSPEC_LOCAL_LEADER"] = BY_NAME
        kept = {name: value for name, value in inherited.items() if name not in variables}
        return variables, {**kept, **secrets}

    def _relay(self, companions: Companions, network: HostNetwork) -> LoopbackRelay | None:
        servers = [server for each in (self._inherited, self._faults) for server in loopback_servers(each).values()]
        if not servers or self.is_isolated or not self._run.request.reaches_loopback:
            return None
        address = network.relay_address
        directory = os.path.join(os.path.abspath(self._run.request.scratch_dir), "relay")
        os.makedirs(directory)
        try:
            place = None if self._facts.is_apart else directory
            return LoopbackRelay(companions, network.options(address), address, servers, place)
        except (ClientFailed, OSError) as fault:
            message = f"hosts cannot reach servers of this machine: {fault}"
            raise FaultRefused(message) if self._faults else RunFailed(3, message) from None


def author_variables(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the author's variables for a job: how to reach AWS, or a server for tests in its place."""
    return {
        name: value for name, value in inherited.items() if value and (name in _NAMES or name.startswith(_ENDPOINT))
    }
