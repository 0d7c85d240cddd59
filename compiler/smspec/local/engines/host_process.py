"""One host of the job as a child process, and its log."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from smspec.local.running.request import RunFailed
from smspec.local.watch.host_log import HostLog
from smspec.local.watch.machine_processes import MachineProcess, Usage, below, read_usage
from smspec.workspace.process_guard import guarded

_READ = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCommand:
    """The command that is started on a host."""

    words: Sequence[str]
    environment: Mapping[str, str]
    directory: str


class HostProcess:
    """Runs in a session of its own, stdout and stderr in one stream, as in a container's log.

    A guard kills everything that it has started with it, also if smspec is killed, and measures what it used.
    """

    def __init__(self, host: str, command: HostCommand, log: str) -> None:
        self.host = host
        self.exit_status: int | None = None
        self.refusal = ""
        self.usage: Usage | None = None
        self._log = HostLog(log)
        self._started = time.monotonic()
        self.seconds = 0.0
        self._measured, measuring = os.pipe()
        try:
            self._process = subprocess.Popen(
                guarded(list(command.words), measuring),
                env=dict(command.environment),
                cwd=command.directory,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(measuring,),
            )
        except OSError as error:
            os.close(self._measured)
            list(self._log.close())
            raise RunFailed(3, f"cannot start `{command.words[0]}`: {(error.strerror or str(error)).lower()}") from None
        finally:
            os.close(measuring)
        self.pid = self._process.pid
        assert self._process.stdout is not None
        self.descriptor = self._process.stdout.fileno()

    def lines(self) -> Iterator[str] | None:
        """Read the available output, which may block, append it to the log, and return its lines; None at the end."""
        data = os.read(self.descriptor, _READ)
        if not data:
            return None
        return self._log.take(data)

    def ended(self) -> bool:
        """Return whether the process has ended; `exit_status` is then 128 + n if signal n ended it."""
        if self.exit_status is None:
            code = self._process.poll()
            if code is not None:
                self.exit_status = code if code >= 0 else 128 - code
                self.seconds = time.monotonic() - self._started
                self.usage = self._read_usage()
        return self.exit_status is not None

    def processes(self) -> list[MachineProcess]:
        """Return the processes below the guard."""
        return below(self.pid)

    def kill_process(self, number: int) -> None:
        """Kill one of them."""
        os.kill(number, signal.SIGKILL)

    def _read_usage(self) -> Usage | None:
        with open(self._measured, "rb") as file:
            return read_usage(file.read())

    def terminate(self) -> None:
        """Stop the process as `docker stop` does first: SIGTERM, to the first process only."""
        self._process.terminate()

    def kill(self) -> None:
        """Kill the process as `docker stop` does last, with everything that the host has started."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def close(self) -> Iterator[str]:
        """Close the log and yield a last line without a line feed."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        yield from self._log.close()
