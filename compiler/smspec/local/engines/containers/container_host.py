"""One host of the job as a container, and its log."""

from __future__ import annotations

import os
from collections.abc import Iterator

from smspec.local.engines.containers.client import Client, ClientFailed
from smspec.local.engines.containers.container_processes import ContainerProcesses
from smspec.local.engines.containers.control_group import ControlGroup
from smspec.local.engines.host_process import Command, HostProcess
from smspec.local.machine_processes import MachineProcess

_STATE = "{{.State.ExitCode}}"


class ContainerHost(HostProcess):
    """Starts a container that has been created; the client passes its output on."""

    def __init__(self, host: str, client: Client, container: str, log: str) -> None:
        """``container``: its identifier."""
        super().__init__(
            host,
            Command(words=[client.program, "start", "--attach", container], environment=os.environ, directory="/"),
            log,
        )
        self._client = client
        self._container = container
        self._processes = ContainerProcesses(client, container)
        self._group = ControlGroup(container)
        self._is_inspected = False

    def lines(self) -> Iterator[str] | None:
        """Read the available output, which may block, append it to the log, and return its lines; None at the end."""
        lines = super().lines()
        self._group.look(at_once=lines is None)
        return lines

    def ended(self) -> bool:
        """Return whether the container has ended; `exit_status` is then its own, 137 if its memory did not suffice.

        A container that podman could not start has 0, and so has one whose client ended first: the client has not.
        """
        if self._is_inspected:
            return True
        self._group.look()
        if super().ended():
            self._is_inspected = True
            try:
                self.exit_status = int(self._client.run("inspect", "--format", _STATE, self._container)) or (
                    self.exit_status
                )
            except (ClientFailed, ValueError):
                pass  # the status of the client is that of the container, where it has one
            self.usage = self._group.usage  # not that of the client
        return self._is_inspected

    def processes(self) -> list[MachineProcess]:
        """Return the processes of the container, if it has Python."""
        return self._processes.all()

    def kill_process(self, number: int) -> None:
        """Kill one of them, by its number in the container."""
        self._processes.kill(number)

    def terminate(self) -> None:
        """Send SIGTERM to the first process, as `docker stop` does first."""
        self._client.try_to("kill", "--signal", "TERM", self._container)

    def kill(self) -> None:
        """Kill every process of the container."""
        if self.exit_status is None and not self._group.kill():
            self._client.try_to("kill", self._container)
        super().kill()
