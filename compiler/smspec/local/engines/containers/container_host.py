"""One host of the job as a container, and its log."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from smspec.local.engines.containers.client import Client, ClientFailed
from smspec.local.engines.containers.container_processes import ContainerProcesses
from smspec.local.engines.containers.control_group import ControlGroup
from smspec.local.engines.host_process import Command, HostProcess
from smspec.local.watch.machine_processes import MachineProcess

_STATE = "{{.State.ExitCode}} {{.State.Status}}"
_NEVER_STARTED = ("configured", "created", "initialized")
_NO_COMMAND = re.compile(r"\bexec: |\bexecutable\b")
"""Words of runc and crun where an image lacks its command, or it cannot be executed: so it fails in SageMaker, too."""


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
        self._log_path = log
        self._unseen: list[str] = []
        self._is_read = False
        self._container = container
        self._processes = ContainerProcesses(client, container)
        self._group = ControlGroup(container)
        self._is_inspected = False

    def lines(self) -> Iterator[str] | None:
        """Read the available output, which may block, append it to the log, and return its lines; None at the end."""
        if self._unseen:
            seen, self._unseen = self._unseen, []
            return iter(seen)
        lines = super().lines()
        self._is_read = lines is None
        self._group.look(at_once=self._is_read)
        return lines

    def ended(self) -> bool:
        """Return whether the container has ended; `exit_status` is then its own, 137 if its memory did not suffice.

        A container that podman could not start has 0, and so has one whose client ended first: the client has not.
        `refusal` says why its engine could not start it.
        """
        if self._is_inspected:
            return True
        self._group.look()
        if super().ended():
            self._is_inspected = True
            status, state = "0", ""
            with suppress(ClientFailed, ValueError):  # the status of the client is that of the container, if it has one
                status, state = self._client.run("inspect", "--format", _STATE, self._container).split(maxsplit=1)
                self.exit_status = int(status) or self.exit_status
            self.usage = self._group.usage  # not that of the client
            if state in _NEVER_STARTED and not _NO_COMMAND.search(words := self._last_words()):
                self.refusal = f"`{self._client.program} start` failed: {words}"
        return self._is_inspected

    def _last_words(self) -> str:
        """Return the last line that the client has written: the container wrote nothing."""
        while not self._is_read and (lines := super().lines()) is not None:
            self._unseen += lines  # and to the log
        with open(self._log_path, encoding="utf-8", errors="replace") as log:
            return log.read().strip().rpartition("\n")[2].strip() or "it failed without a message"

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
