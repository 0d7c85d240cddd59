"""Run commands under a guard, confined to a temporary directory, with limits of time and output."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from smspec.local.engines.namespace.cell.kernel import DEVICES
from smspec.proof import confinement
from smspec.source.frozen import dataclass
from smspec.workspace.process_guard import guarded

LARGEST_FILE = 1 << 30
LARGEST_RESULT = 1 << 24
_KEPT_OUTPUT = 1 << 16
_GRACE_SECONDS = 30
"""For the end of what the guard kills."""

_DEVICES = tuple(f"/dev/{name}" for name in DEVICES)
_OWN_OUTPUT = ("/dev/fd", "/dev/stdout", "/dev/stderr")
"""Python's own functions, which see paths only, must allow these; for Landlock they are no files."""

_PROGRAM = os.path.dirname(confinement.__file__)
_RECORD = "confinement.json"
_WITH_TRUNCATION, _WITH_SCOPES = 3, 6
"""Versions of Landlock."""
_OF_LIBRARIES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")
_OF_THIS_MACHINE = ("PATH", "LANG", "LANGUAGE", *_OF_LIBRARIES)
"""What finds and starts the programs of this machine, besides `LC_*`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """``status`` is 128 + n if signal n ended the command. ``output`` is the end of both streams."""

    status: int
    output: str
    is_late: bool

    @property
    def last_line(self) -> str:
        """The last line of the output."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        return lines[-1] if lines else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """``directory`` is the only one of this machine that commands can write to. ``seconds``: the limit of each command.

    ``places``: what they can read, besides the programs and libraries of the system; ``hidden``: sockets and FIFOs in
    them that they cannot reach. ``host``: a directory in it that is /opt/ml, too, where the system allows mounts.
    """

    directory: str
    seconds: float
    places: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    host: str = ""

    @property
    def writable(self) -> list[str]:
        """The directories and devices that a command can write to."""
        return [self.directory, *_DEVICES, *_OWN_OUTPUT]

    def path(self, *names: str) -> str:
        return os.path.join(self.directory, *names)

    def run(
        self, words: Sequence[str], environment: Mapping[str, str], directory: str, *, recorded: bool = False
    ) -> Ended:
        """Run a command to its end, or to the limit; nothing that it has started is left.

        ``recorded``: then `enforced` knows what the system enforces. Code of a stranger could change the record.
        """
        # Not that of the command: a package may have chosen it.
        libraries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
        options = {
            "writable": [self.directory],
            "devices": _DEVICES,
            "seconds": int(self.seconds * (os.cpu_count() or 1)) + 1,
            "bytes": LARGEST_FILE,
            "places": [*self.places, *filter(os.path.isabs, libraries)],
            "hidden": self.hidden,
            # An earlier command may have replaced it by a link to a directory of the author.
            "host": self.host if os.path.isdir(self.host) and os.path.realpath(self.host) == self.host else "",
            "record": self.path(_RECORD) if recorded else "",
        }
        variables = [f"{name}={value}" for name, value in self._own(environment).items()]
        options["variables"] = len(variables)
        confined = [sys.executable, "-I", "-S", _PROGRAM, json.dumps(options), *variables, *words]
        late = threading.Event()
        with subprocess.Popen(
            guarded(confined),
            env=_before_confinement(),
            cwd=directory if os.path.isdir(directory) else self.directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            assert process.stdin is not None and process.stdout is not None
            reader = _Reader(process.stdout.fileno())
            try:
                reader.start()
                deadline = time.monotonic() + self.seconds
                while process.poll() is None and not late.is_set():
                    try:
                        process.wait(max(0.0, deadline - time.monotonic()))
                    except subprocess.TimeoutExpired:
                        late.set()
            finally:
                process.stdin.close()  # the guard then kills everything
                process.wait(_GRACE_SECONDS)
                reader.join(_GRACE_SECONDS)
        return Ended(status=process.returncode, output=reader.text(), is_late=late.is_set())

    def unconfined(self) -> str:
        """Return what a recorded command can still reach of this machine, separated by semicolons; empty if nothing."""
        return unconfined(self.enforced())

    def enforced(self) -> dict[str, int]:
        """Return by what the system confines a recorded command."""
        try:
            with open(self.path(_RECORD), encoding="utf-8") as file:
                found: dict[str, int] = json.load(file)
                return found
        except (FileNotFoundError, ValueError):  # the disk may be full
            return {}

    def result(self, path: str) -> dict[str, Any] | None:
        """Return the JSON object that a command has written, or None.

        The command may have put anything there, such as a link to a file of the author, a FIFO, or an endless number.
        """
        try:
            with open(path, "rb", opener=_opened) as file:
                found = json.loads(file.read(LARGEST_RESULT))
        except (OSError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def _own(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return variables with a home and a temporary directory of the command's own."""
        home, temporary = self.path("home"), self.path("tmp")
        for path in (home, temporary):
            if os.path.islink(path) or not os.path.isdir(path):  # an earlier command may have replaced it
                with suppress(FileNotFoundError):
                    os.unlink(path)
                os.makedirs(path)
        return {**environment, "HOME": home, "TMPDIR": temporary, "AWS_EC2_METADATA_DISABLED": "true"}


class _Reader(threading.Thread):
    """Reads a stream to its end and keeps its last part."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(daemon=True)
        self._descriptor = descriptor
        self._kept = b""

    def run(self) -> None:
        while True:
            try:
                data = os.read(self._descriptor, _KEPT_OUTPUT)
            except OSError:
                return
            if not data:
                return
            self._kept = (self._kept + data)[-_KEPT_OUTPUT:]

    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")


def unconfined(found: Mapping[str, int]) -> str:
    """Return what is not confined by what the system enforces."""
    tree, network, processes, landlock, calls = map(found.get, ("tree", "network", "processes", "landlock", "calls"))
    lacking = {
        "files changed by its child processes or compiled code": not tree and not landlock,
        "truncated files": not tree and landlock and landlock < _WITH_TRUNCATION,
        "modes, owners, and times of files": not tree,
        "reading": not tree and not landlock,
        "files that your other groups can read": found.get("groups") and (tree or landlock),
        "Unix sockets": not tree and not calls,
        "connections of its child processes": not network and not calls,
        "memory and variables of your other processes": not network and not landlock,
        "signals to your other processes": not processes and (landlock or 0) < _WITH_SCOPES,
        "names and scheduling of your other processes": not processes,
        "priorities and limits of your other processes": not processes and not calls,
        "shared memory of System V": not network and not calls,
        "kernel keys": not calls,
    }
    return "; ".join(what for what, is_lacking in lacking.items() if is_lacking)


def is_list_of_texts(value: object) -> bool:
    """Return whether a member of a result is what the driver writes for words."""
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def of_this_machine(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that programs of this machine need; the container has none of the author's others."""
    kept = {name: value for name, value in variables.items() if name in _OF_THIS_MACHINE or name.startswith("LC_")}
    region = variables.get("AWS_REGION") or variables.get("AWS_DEFAULT_REGION")
    return {**kept, **({"AWS_REGION": region} if region else {})}  # `smspec submit` starts the job there


def _before_confinement() -> dict[str, str]:
    """Return the variables of the guard and of the program that confines.

    Those of the command, such as LD_PRELOAD, would load code into them before anything is confined. A place that is
    relative is one of the command's directory.
    """
    found = of_this_machine(os.environ)
    for name in found.keys() & _OF_LIBRARIES:
        found[name] = os.pathsep.join(filter(os.path.isabs, found[name].split(os.pathsep)))
    return found


def _opened(path: str, flags: int) -> int:
    """Open a regular file, without following a link or waiting for a writer."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return descriptor
