"""The way from containers to servers on the loopback interface of this machine, such as an S3 server for tests.

A container on the network of the hosts listens for them. On Linux it passes connections on through a UNIX socket in a
directory of this machine, so neither a firewall nor the network of the engine matters. Virtual machines share no
sockets, but their engines have a name for the machine around them.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

from smspec.local.engines.containers.inside import inside_words
from smspec.local.engines.containers.inside.relay import listen, started
from smspec.local.engines.containers.mounts import mount
from smspec.local.engines.containers.sidecar import Companions, Sidecar

_LOOPBACK = re.compile(r"(?<=://)(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?=[:/]|$)")
_INSIDE = "/relay"
_NAMES = {"docker": "host.docker.internal", "podman": "host.containers.internal"}
_NAME_OF_LIMA = "host.lima.internal"


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
    """Runs from its creation to `close`. ``address``: its own on the network of the hosts."""

    def __init__(
        self,
        companions: Companions,
        network: Sequence[str],
        address: str,
        servers: Sequence[tuple[str, int]],
        directory: str | None,
    ) -> None:
        """``network``: the options that put a container on it. ``directory``: an empty one, None for a virtual machine.

        Raise ClientFailed; nothing is left then.
        """
        self._address = address
        self._open = ExitStack()
        with ExitStack() as undo:
            targets = {}
            for server in dict.fromkeys(servers):
                if directory is None:
                    name = _NAMES.get(companions.client.program, _NAME_OF_LIMA)
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
