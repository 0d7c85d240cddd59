"""The program: it moves to new namespaces, gives up its rights, and becomes the command.

The options are a JSON object: ``writable`` is a list of directories, ``devices`` and ``places`` are what else the
command may use, ``seconds`` is the limit of processor time, ``bytes`` the largest file, and ``record`` a file for what
restricts the command, if not empty. The first ``variables`` words are the environment of the command, NAME=VALUE: this
program must not have it, because the loader of libraries and Python obey variables, too. What the system cannot
enforce is also named in the environment of the command,
for its driver: Python's own functions then refuse it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import resource
import socket
import struct
import sys
from collections.abc import Mapping

from smspec.local.engines.namespace.cell import kernel

from . import rights, tree

OPEN = "SMSPEC_CHECK_OPEN"
"""Names what is not enforced: ``files``, ``network``, or both."""

_NAMES_AND_MEMORY = kernel.NEW_NAME | kernel.NEW_IPC
_CONTROL_GROUPS = 0x02000000
_NETWORK = kernel.NEW_USER | kernel.NEW_NETWORK | _NAMES_AND_MEMORY
_ATTEMPTS = (
    _NETWORK | kernel.NEW_MOUNTS | kernel.NEW_PROCESSES | _CONTROL_GROUPS,
    _NETWORK | kernel.NEW_MOUNTS,  # containers refuse a /proc of new processes
    _NETWORK,  # some distributions refuse mounts
)
_SET_FLAGS, _UP = 0x8914, 0x41
_NO_CORES = (resource.RLIMIT_CORE, 1)
"""Neither files nor a program of the machine that handles crashes: that one, the kernel starts with a limit of 0."""

_MOST_NAMESPACES = "/proc/sys/user/max_user_namespaces"


class Options:
    """What smspec asks for."""

    def __init__(self, text: str) -> None:
        members = json.loads(text)
        self.writable: list[str] = members["writable"]
        self.devices: list[str] = members["devices"]
        self.places: list[str] = members["places"]
        self.hidden: list[str] = members["hidden"]
        self.host: str = members["host"]
        self.seconds: int = members["seconds"]
        self.bytes: int = members["bytes"]
        self.record: str = members["record"]
        self.variables: int = members["variables"]
        self.environment: dict[str, str] = {}


def main(options: str, words: list[str]) -> int:
    """Confine a process that becomes the command; return its exit status."""
    wanted = Options(options)
    given, words = words[: wanted.variables], words[wanted.variables :]
    wanted.environment = {name: value for name, _, value in (text.partition("=") for text in given)}
    limits = ((resource.RLIMIT_CPU, wanted.seconds), (resource.RLIMIT_FSIZE, wanted.bytes), _NO_CORES)
    for kind, limit in limits:
        _, most = resource.getrlimit(kind)
        limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(kind, (limit, limit))  # the command could raise a limit that is below the hard one
    if not sys.platform.startswith("linux"):
        return _become(wanted, words, {})
    # Root can have most of it where the system refuses namespaces of users.
    for kinds in (*_ATTEMPTS, *(() if os.geteuid() else (kinds & ~kernel.NEW_USER for kinds in _ATTEMPTS))):
        status = _in_namespaces(kinds, wanted, words)
        if status is not None:
            return status
    return _become(wanted, words, _restricted(0, wanted, {}))


def _in_namespaces(kinds: int, wanted: Options, words: list[str]) -> int | None:
    """Run the command in namespaces of its own; return its exit status, or None if the system refuses them."""
    reader, writer = os.pipe()
    may_go, go = os.pipe()
    outer = os.fork()
    if outer:
        os.close(writer)
        os.close(may_go)
        if os.read(reader, 1) and (not kinds & kernel.NEW_USER or rights.map_users(outer)):
            os.write(go, b"1")
        os.close(go)
        is_started = os.read(reader, 1)
        os.close(reader)
        status = _status_of(outer)
        return status if is_started else None
    try:
        os.close(reader)
        os.close(go)
        rights.leave_groups()
        foreign = {} if os.geteuid() or not kinds & kernel.NEW_MOUNTS else tree.foreign_system()
        _unshare(kinds)
        os.write(writer, b"1")
        if not os.read(may_go, 1):
            os._exit(1)
        os.close(may_go)
        kernel.die_with_parent()  # after the mapping: the kernel forgets it where a process gets new rights
        if kinds & kernel.NEW_PROCESSES:
            _be_outside(writer)
        found = _restricted(kinds, wanted, foreign)
        os.write(writer, b"1")
        os.close(writer)
        if kinds & kernel.NEW_PROCESSES:
            # The first process of a namespace ignores signals such as SIGABRT: the command is the second one. It could
            # stop the first one for the whole time limit by tracing it.
            rights.refuse_tracing()
            command = os.fork()
            if command:
                os._exit(_status_of(command))
        os._exit(_become(wanted, words, found))
    except (kernel.StepFailed, OSError):
        os._exit(1)


def _unshare(kinds: int) -> None:
    try:
        kernel.unshare(kinds, "unshare")
    except kernel.StepFailed as fault:
        if fault.number != errno.EINVAL or not kinds & _CONTROL_GROUPS:
            raise
        kernel.unshare(kinds & ~_CONTROL_GROUPS, "unshare")  # this kernel has none


def _be_outside(writer: int) -> None:
    """Return in the first process of a new namespace; this one waits for it."""
    first = os.fork()
    if first:
        os.close(writer)
        os._exit(_status_of(first))
    kernel.die_with_parent()


def _status_of(child: int) -> int:
    """Reap children until one has ended; return its exit status."""
    while True:
        process, status = os.wait()
        if process == child:
            return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _restricted(kinds: int, wanted: Options, foreign: Mapping[str, int]) -> dict[str, int]:
    """Restrict this process and its children as far as the system can; return by what.

    Raise StepFailed or OSError if mounts of its own were asked for, and the system refuses them.
    """
    writable, has_tree = list(wanted.writable), bool(kinds & kernel.NEW_MOUNTS)
    has_network, has_processes = bool(kinds & kernel.NEW_NETWORK), bool(kinds & kernel.NEW_PROCESSES)
    if has_network:
        _activate_loopback()
    if kinds & kernel.NEW_USER:
        _refuse_namespaces()
    if has_tree:
        shown = tree.Shown(wanted.writable, wanted.devices, wanted.places, wanted.hidden, wanted.host)
        tree.enter(shown, wanted.bytes, foreign, has_processes=has_processes)
        writable += (*tree.OWN_DIRECTORIES, *([tree.OF_THE_JOB] if wanted.host else []))
    rights.drop()
    readable = [] if has_tree else [*tree.SYSTEM, *rights.READABLE, *wanted.places]
    if readable and not os.geteuid():
        hidden = tree.private(wanted.places)
        readable = [part for path in readable for part in tree.public_parts(os.path.realpath(path), hidden)]
    version = rights.restrict_files(writable, wanted.devices, readable, has_network=has_network)
    is_filtered = rights.refuse_calls(has_tree=has_tree, has_network=has_network, has_processes=has_processes)
    return {
        "tree": has_tree,
        "network": has_network,
        "processes": has_processes,
        "landlock": version,
        "groups": rights.has_other_groups(),
        "calls": is_filtered,
    }


def _activate_loopback() -> None:
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))
    except OSError:
        pass  # without loopback, too, nothing leaves this machine


def _refuse_namespaces() -> None:
    """Allow no user namespace below this one: in it, a process would have all rights again."""
    try:
        with open(_MOST_NAMESPACES, "w", encoding="ascii") as file:
            file.write("0")
    except OSError:
        pass  # the filter of system calls refuses them, too


def _become(wanted: Options, words: list[str], found: dict[str, int]) -> int:
    """Become the command. Return only if it cannot be started."""
    if wanted.record:
        with open(wanted.record, "w", encoding="utf-8") as file:
            json.dump(found, file)
    missing = {"network": found.get("network"), "files": found.get("tree") or found.get("landlock")}
    wanted.environment[OPEN] = ",".join(name for name, is_enforced in missing.items() if not is_enforced)
    try:
        os.execvpe(words[0], words, wanted.environment)
    except OSError as fault:
        os.write(2, f"cannot start `{words[0]}`: {fault.strerror}\n".encode())
    return 127
