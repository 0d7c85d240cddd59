"""The processes inside a container, wherever the engine runs: a Python in the container lists and kills them."""

from __future__ import annotations

import json
from collections.abc import Mapping

from smspec.local.engines.containers.client import Client, ClientFailed
from smspec.local.engines.containers.inside import inside_words
from smspec.local.machine_processes import MachineProcess, with_those_below

_FIRST = 1


class ContainerProcesses:
    """Numbers are those that processes have in their container. The image must have Python."""

    def __init__(self, client: Client, container: str) -> None:
        self._client = client
        self._container = container

    def all(self) -> list[MachineProcess]:
        """Return them, parents first, from the first one on; none if the container has ended."""
        try:
            files: Mapping[str, Mapping[str, str]] = json.loads(self._run())
        except (ClientFailed, ValueError):
            return []
        return with_those_below(_FIRST, _Files(files))

    def kill(self, number: int) -> None:
        """Kill one with SIGKILL. Raise OSError if there is none."""
        try:
            if number == _FIRST:
                # The kernel ignores a signal to the first process from inside.
                self._client.run("kill", self._container)
            else:
                self._run(str(number))
        except ClientFailed as fault:
            raise ProcessLookupError(str(fault)) from None

    def _run(self, *arguments: str) -> str:
        words = inside_words("processes", *arguments)
        return self._client.run("exec", "--user", "0:0", self._container, "python3", *words)


class _Files:
    def __init__(self, files: Mapping[str, Mapping[str, str]]) -> None:
        self._files = files

    def numbers(self) -> list[str]:
        return [*self._files]

    def read(self, process: str, name: str) -> bytes:
        try:
            return self._files[process][name].encode("latin-1")
        except KeyError:
            raise ProcessLookupError(process) from None
