"""One host of the job as a container, and its log."""

from __future__ import annotations

import os

from smspec.local.engines.containers.client import Client, ClientFailed
from smspec.local.engines.host_process import Command, HostProcess
from smspec.local.machine_processes import MachineProcess, with_those_below

_STATE = "{{.State.ExitCode}}"


class ContainerHost(HostProcess):
    """Starts a container that has been created; the client passes its output on."""

    def __init__(self, host: str, client: Client, container: str, log: str) -> None:
        super().__init__(
            host,
            Command(words=[client.program, "start", "--attach", container], environment=os.environ, directory="/"),
            log,
        )
        self._client = client
        self._container = container
        self._is_inspected = False

    def ended(self) -> bool:
        """Return whether the container has ended; `exit_status` is then its own, 137 if its memory did not suffice.

        A container that podman could not start has 0, and so has one whose client ended first: the client has not.
        """
        if super().ended() and not self._is_inspected:
            self._is_inspected = True
            try:
                self.exit_status = int(self._client.run("inspect", "--format", _STATE, self._container)) or (
                    self.exit_status
                )
            except (ClientFailed, ValueError):
                pass  # the status of the client is that of the container, where it has one
            self.usage = None  # that of the client; the engine has removed the counters of the container
        return self.exit_status is not None

    def processes(self) -> list[MachineProcess]:
        """Return the processes of the container, if the engine runs on this machine."""
        try:
            first = int(self._client.run("inspect", "--format", "{{.State.Pid}}", self._container))
        except (ClientFailed, ValueError):
            return []
        return with_those_below(first) if first else []

    def terminate(self) -> None:
        """Send SIGTERM to the first process, as `docker stop` does first."""
        self._client.try_to("kill", "--signal", "TERM", self._container)

    def kill(self) -> None:
        """Kill every process of the container."""
        self._client.try_to("kill", self._container)
        super().kill()
