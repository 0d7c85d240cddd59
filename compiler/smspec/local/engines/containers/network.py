"""The network of a run: each host has a fixed address, so that names resolve before the other hosts are up."""

from __future__ import annotations

import random

from smspec.local.engines.containers.client import Client, ClientFailed
from smspec.local.request import RunFailed

MOST_HOSTS = 200
_FIRST_HOST = 10
_ATTEMPTS = 20
_OVERLAP = ("overlap", "already in use", "already used", "subnet")


class Network:
    """A network of an engine. ``is_internal``: its hosts reach each other, and nothing else."""

    def __init__(self, client: Client, name: str, label: str, *, is_internal: bool) -> None:
        self.name = name
        self._client = client
        self._prefix = self._created(label, is_internal)

    def address(self, rank: int) -> str:
        """Return the address of a host; ``rank`` counts from 0."""
        return f"{self._prefix}.{_FIRST_HOST + rank}"

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
