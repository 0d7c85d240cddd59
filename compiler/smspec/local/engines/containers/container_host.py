"""One host of the job as a container: its log, its processes, and what they use."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from smspec.local.engines.containers.client import Client, ClientFailed
from smspec.local.engines.containers.inside import inside_words
from smspec.local.engines.engine import HostCommand, HostProcess
from smspec.local.watch.host_log import LogText
from smspec.local.watch.machine_processes import MachineProcess, Usage, with_those_below

_STATE = "{{.State.ExitCode}} {{.State.Status}} {{json .Path}}"
_NEVER_STARTED = ("configured", "created", "initialized")
_ENDED = ("exited", "stopped", "dead")
_REMOVED = "removed"
_SECONDS_TO_END = 20.0
"""How long the state of a container may need to follow its client."""

_FIRST = 1
_ROOT = "/sys/fs/cgroup"
_IDENTIFIER = 64
_SHORT = 12
"""The length of an identifier; less could be a part of another one."""

_TURN_SECONDS = 0.1
_SEARCH_SECONDS = 5.0
_MICROSECONDS, _NANOSECONDS = 1e-6, 1e-9


class ContainerHost(HostProcess):
    """Starts a container that has been created; the client passes its output on."""

    def __init__(self, host: str, client: Client, container: str, log: str) -> None:
        """``container``: its identifier."""
        super().__init__(
            host,
            HostCommand(words=[client.program, "start", "--attach", container], environment=os.environ, directory="/"),
            log,
        )
        self._client = client
        self._log_path = log
        self._unseen: list[LogText] = []
        self._unread = set(self.descriptors)
        self._container = container
        self._processes = ContainerProcesses(client, container)
        self._group = ControlGroup(container)
        self._is_inspected = False

    def read(self, descriptor: int) -> list[LogText] | None:
        """Read the available output, which may block, append it to the log, and return its lines; None at the end."""
        if self._unseen:
            seen, self._unseen = self._unseen, []
            return seen
        texts = super().read(descriptor)
        if texts is None:
            self._unread.discard(descriptor)
        self._group.look(at_once=texts is None)
        return texts

    def ended(self) -> bool:
        """Return whether the container has ended; `exit_status` is then its own, 137 if its memory did not suffice.

        A container that podman could not start has 0, the client has not. `refusal` says why its engine could not start
        it, `loss` why it may still run: its client has ended, and it has not, or the engine does not answer.
        """
        if self._is_inspected:
            return True
        self._group.look()
        if super().ended():
            self._is_inspected = True
            status, state, command = self._last_state()
            self.exit_status = status or self.exit_status
            self.usage = self._group.usage  # not that of the client
            program = self._client.program
            if not self.exit_status:
                self.added = self._added_files()
            if state in _NEVER_STARTED:
                if not names_command(words := self._last_words(), command):
                    self.refusal = f"`{program} start` failed: {words}"
            elif state not in (*_ENDED, _REMOVED):
                self._client.is_lost = not state
                self.loss = (
                    f"the connection to `{program}` was lost, and the container of {self.host} may still run: "
                    f"`{program} rm --force {self._container[:_SHORT]}` ends it"
                )
        return self._is_inspected

    def _added_files(self) -> list[str]:
        """Return what the job added to the image below /opt/ml; the engine does not say which are directories."""
        try:
            lines = self._client.run("diff", self._container, seconds=_SECONDS_TO_END).splitlines()
        except ClientFailed:
            return []
        paths = sorted(line[2:] for line in lines if line.startswith("A /opt/ml/"))
        return [
            path
            for path, following in zip(paths, [*paths[1:], ""], strict=False)
            if not following.startswith(f"{path}/") and "." in os.path.basename(path)
        ]

    def _last_state(self) -> tuple[int, str, str]:
        """Return the exit status, the state, and the command of the container; 0 and nothing if they are unknown."""
        ends = time.monotonic() + (0 if self._client.is_lost else _SECONDS_TO_END)
        while True:
            found = 0, "", ""
            with suppress(ClientFailed, ValueError):
                found = self._inspected()
            if found[1] in (*_ENDED, *_NEVER_STARTED, _REMOVED) or time.monotonic() > ends:
                return found
            time.sleep(_TURN_SECONDS)

    def _inspected(self) -> tuple[int, str, str]:
        """Return what the engine says. Raise ClientFailed, or ValueError for an answer that is none."""
        try:
            words = ("inspect", "--format", _STATE, self._container)
            status, state, command = self._client.run(*words, seconds=_SECONDS_TO_END).split(maxsplit=2)
        except ClientFailed:
            known = ("ps", "--all", "--no-trunc", "--quiet", "--filter", f"id={self._container}")
            if self._client.run(*known, seconds=_SECONDS_TO_END):
                raise
            return 0, _REMOVED, ""
        return int(status), state, str(json.loads(command))

    def _last_words(self) -> str:
        """Return the last line that the client has written: the container wrote nothing."""
        for descriptor in self.descriptors:
            while descriptor in self._unread and (texts := super().read(descriptor)) is not None:
                self._unseen += texts  # and to the log
            self._unread.discard(descriptor)
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


def names_command(words: str, command: str) -> bool:
    """Return whether runc or crun complain that an image lacks its command, or it is not executable.

    So it fails in SageMaker, too, unlike a program of the engine, such as a runtime or a hook: theirs have other names.
    """
    quoted = json.dumps(command, ensure_ascii=False)
    older = quoted.replace('"', '\\"')
    known = (
        f"exec: {quoted}: ",
        f"exec: {older}: ",
        f"executable file `{command}` not found",
        "crun: open executable: ",
    )
    return any(each in words for each in known)


class ContainerProcesses:
    """A Python in the container lists and kills them, wherever the engine runs. Numbers are those inside."""

    def __init__(self, client: Client, container: str) -> None:
        self._client = client
        self._container = container

    def all(self) -> list[MachineProcess]:
        """Return them, parents first, from the first one on; none if the container has ended.

        The Python of an image may answer anything.
        """
        try:
            files = json.loads(self._run())
        except (ClientFailed, ValueError, RecursionError):
            return []
        return with_those_below(_FIRST, _Files(files)) if isinstance(files, dict) else []

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
    def __init__(self, files: Mapping[str, Any]) -> None:
        self._files = files

    def numbers(self) -> list[str]:
        return [*self._files]

    def read(self, process: str, name: str) -> bytes:
        try:
            return bytes(self._files[process][name], "latin-1")
        except (LookupError, TypeError, UnicodeError):
            raise ProcessLookupError(process) from None


class ControlGroup:
    """Both versions of control groups. ``container``: its full identifier, which the directories have in their names.

    The files end with the container, so they are read while it runs.

    ``usage`` is None if the engine runs on a different machine, or keeps no such files.
    """

    def __init__(self, container: str, root: str = _ROOT) -> None:
        self.usage: Usage | None = None
        self._container = container if len(container) == _IDENTIFIER else ""
        self._root = root
        self._directories: tuple[str, str] | None = None
        self._next = 0.0
        self._search_ends = time.monotonic() + _SEARCH_SECONDS

    def look(self, *, at_once: bool = False) -> None:
        """Read the files, if it is time."""
        now = time.monotonic()
        if now < self._next and not at_once:
            return
        self._next = now + _TURN_SECONDS
        if self._directories is None:
            if now > self._search_ends or not self._container:
                return
            self._directories = self._found()
        if self._directories is not None:
            with suppress(OSError, ValueError, KeyError):
                self._read(*self._directories)

    def kill(self) -> bool:
        """Kill all processes at once: an engine takes so long that a job would go on. Return whether that worked."""
        self.look(at_once=True)
        if self._directories is None:
            return False
        try:
            numbers = [int(number) for number in _processes(self._directories[1])]
            if not numbers or 0 in numbers:  # a process that this one cannot see is 0, which would mean its own group
                return False
            for number in numbers:
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
        except (OSError, ValueError):
            return False
        return True

    def _found(self) -> tuple[str, str] | None:
        """Return the directories with the files about CPU time and about memory."""
        if os.path.exists(os.path.join(self._root, "cgroup.controllers")):
            directory = self._below(self._root)
            return None if directory is None else (directory, directory)
        cpu, memory = (self._below(os.path.join(self._root, name)) for name in ("cpuacct", "memory"))
        return None if cpu is None or memory is None else (cpu, memory)

    def _below(self, root: str) -> str | None:
        for above, names, _ in os.walk(root):
            for name in names:
                if self._container in name and "conmon" not in name:  # a monitor of podman has one of its own
                    return os.path.join(above, name)
        return None

    def _read(self, cpu: str, memory: str) -> None:
        seconds = _cpu_seconds(cpu)
        members = dict(line.split() for line in _text(memory, "memory.stat").splitlines())
        together = sum(
            int(members.get(f"total_{old}", members.get(new, 0))) for old, new in (("rss", "anon"), ("shmem", "shmem"))
        )
        largest = max(map(_most_resident, _processes(memory)), default=0)
        known = self.usage or Usage(cpu_seconds=0.0, peak_memory=0, total_memory=0)
        largest = max(known.peak_memory, largest)
        self.usage = Usage(
            cpu_seconds=max(known.cpu_seconds, round(seconds, 3)),
            peak_memory=largest,
            # The peak of a process is exact, while a short one of all together is missed.
            total_memory=max(known.total_memory or 0, together, largest),
        )


def _cpu_seconds(directory: str) -> float:
    if os.path.exists(os.path.join(directory, "cpuacct.usage")):
        return int(_text(directory, "cpuacct.usage")) * _NANOSECONDS
    members = dict(line.split() for line in _text(directory, "cpu.stat").splitlines())
    return int(members["usage_usec"]) * _MICROSECONDS


def _processes(directory: str) -> Iterator[str]:
    for above, _, files in os.walk(directory):
        if "cgroup.procs" in files:
            with suppress(OSError):  # a group of threads
                yield from _text(above, "cgroup.procs").split()


def _most_resident(process: str) -> int:
    """Return the most bytes that a process has had in memory."""
    with suppress(OSError, ValueError, IndexError):
        for line in _text("/proc", process, "status").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return 0


def _text(*path: str) -> str:
    with open(os.path.join(*path), encoding="utf-8", errors="replace") as file:
        return file.read()
