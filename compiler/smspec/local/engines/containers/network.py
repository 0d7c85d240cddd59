"""The network of a run: each host has a fixed address, so that names resolve before the other hosts are up.

Docker resolves a name only once its container runs, and nerdctl has no aliases.
"""

from __future__ import annotations

import random

from smspec.local.engines.containers.client import ClientFailed
from smspec.local.engines.containers.sidecar import Companions
from smspec.local.request import RunFailed

MOST_HOSTS = 200
_RELAY, _FIRST_HOST = 5, 10
_ATTEMPTS = 20
_OVERLAP = ("overlap", "already in use", "already used", "subnet")


class Network:
    """A network of an engine. ``is_internal``: its hosts reach each other, and nothing else."""

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
