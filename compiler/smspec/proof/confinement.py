"""Run a command that can change few directories and reach neither network nor other processes: a standalone program.

``confinement.py OPTIONS WORD…``: the options are a JSON object, ``writable`` a list of directories, ``devices`` one of
files, ``seconds`` the limit of processor time, ``bytes`` the largest file, ``shares_memory`` whether the command needs
the `/dev/shm` of this machine. What the system cannot enforce is named in the environment of the command, for its
driver: Python's own functions then refuse it.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import resource
import signal
import socket
import stat
import struct
import sys
from collections.abc import Iterable, Iterator

TYPE_CHECKING = False  # `typing` takes time to import, in every process
if TYPE_CHECKING:
    from typing import Any

PROGRAM = os.path.abspath(__file__)
OPEN = "SMSPEC_CHECK_OPEN"
"""Names what is not enforced: ``files``, ``network``, or both."""

_NEW_MOUNTS, _NEW_NAME, _NEW_MEMORY = 0x00020000, 0x04000000, 0x08000000
_NEW_USER, _NEW_PROCESSES, _NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
_ALWAYS = _NEW_NETWORK | _NEW_MOUNTS | _NEW_NAME | _NEW_MEMORY
_SHARED_MEMORY = "/dev/shm"
"""Semaphores and shared memory of `multiprocessing`."""

_RECURSIVE_PRIVATE, _BIND, _RECURSIVE_BIND = 0x44000, 0x1000, 0x5000
_NO_PROGRAMS = 2 | 4
_HERE, _RECURSIVE, _READ_ONLY = -100, 0x8000, 1
_MOST_SOCKETS = 1000

_DIE_WITH_PARENT, _DROP_FROM_BOUNDS, _NO_NEW_PRIVILEGES = 1, 24, 38
_CAPABILITIES_VERSION = 0x20080522
_OF_FILES, _READ_ALL = 0b11111, 0b100
"""Capabilities: to change any file, and to read any file."""

_SET_ATTRIBUTES, _CREATE_RULES, _ADD_RULE, _RESTRICT = 442, 444, 445, 446
"""System calls of mounts and of Landlock, with the same numbers on all architectures."""

_WRITES = sum(1 << bit for bit in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12))
_REFER, _TRUNCATE, _DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15
_OF_A_FILE = 1 << 1 | _TRUNCATE | _DEVICE_CONTROL
_TCP, _ABSTRACT_SOCKETS_AND_SIGNALS = 0b11, 0b11
_SET_FLAGS, _UP = 0x8914, 0x41


def main(options: str, words: list[str]) -> int:
    """Confine a process that becomes the command; return its exit status."""
    wanted = json.loads(options)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for kind, limit in ((resource.RLIMIT_CPU, wanted["seconds"]), (resource.RLIMIT_FSIZE, wanted["bytes"])):
        _, most = resource.getrlimit(kind)
        limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(kind, (limit, most))
    if not sys.platform.startswith("linux"):
        return _become(words, ["network", "files"])
    sockets = list(_sockets(wanted["writable"]))
    status = _among_own_processes(wanted, words, sockets)
    return _confined(wanted, words, sockets, _leave(_ALWAYS)) if status is None else status


def _among_own_processes(wanted: dict[str, Any], words: list[str], sockets: list[str]) -> int | None:
    """Run the command where it sees no other processes; return its exit status, or None if the system refuses."""
    reader, writer = os.pipe()
    outer = os.fork()
    if outer:
        os.close(writer)
        is_started = os.read(reader, 1)
        os.close(reader)
        status = _status_of(outer)
        return status if is_started else None
    os.close(reader)
    _system().prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if not _leave(_ALWAYS | _NEW_PROCESSES):
        os._exit(1)
    first = os.fork()
    if first:
        os.close(writer)
        os._exit(_status_of(first))
    _system().prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if not (_private_mounts() and _mount(b"proc", "/proc", b"proc", _NO_PROGRAMS)):
        os._exit(1)
    os.write(writer, b"1")
    os.close(writer)
    # The first process of a namespace ignores signals such as SIGABRT: the command is the second one.
    command = os.fork()
    if not command:
        os._exit(_confined(wanted, words, sockets, True))
    os._exit(_status_of(command))


def _status_of(child: int) -> int:
    """Reap children until one has ended; return its exit status."""
    while True:
        process, status = os.wait()
        if process == child:
            return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _confined(wanted: dict[str, Any], words: list[str], sockets: list[str], has_left: bool) -> int:
    """Confine this process and become the command. Return only if it cannot be started."""
    writable = list(wanted["writable"])
    is_read_only = False
    if has_left and _private_mounts():
        for path in sockets:
            _mount(b"/dev/null", path, None, _BIND)
        memory = f"size={wanted['bytes']},mode=1777".encode()
        if not wanted["shares_memory"] and _mount(b"tmpfs", _SHARED_MEMORY, b"tmpfs", _NO_PROGRAMS, memory):
            writable.append(_SHARED_MEMORY)
        is_read_only = _read_only_except(writable)
    is_protected = _protect(writable, wanted["devices"], has_left)
    _drop_privileges(_OF_FILES if is_read_only else _READ_ALL)
    missing = [name for name, done in (("network", has_left), ("files", is_protected or is_read_only)) if not done]
    return _become(words, missing)


def _become(words: list[str], missing: list[str]) -> int:
    os.environ[OPEN] = ",".join(missing)
    try:
        os.execvp(words[0], words)
    except OSError as fault:
        os.write(2, f"cannot start `{words[0]}`: {fault.strerror}\n".encode())
    return 127


def _leave(kinds: int) -> bool:
    """Move to a network of its own with nothing but loopback, to mounts of its own …; return whether that succeeded."""
    user, group = os.getuid(), os.getgid()
    library = _system()
    if not (user == 0 and library.unshare(kinds) == 0):
        if library.unshare(_NEW_USER | kinds) != 0:
            return False
        try:
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{user} {user} 1")
            _write("/proc/self/gid_map", f"{group} {group} 1")
        except OSError:
            pass  # only the names of users are unknown then
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))
    except OSError:
        pass  # without loopback, too, nothing leaves this machine
    return True


def _sockets(writable: Iterable[str]) -> Iterator[str]:
    """Yield the Unix sockets of other programs, by which they accept orders, such as Docker's."""
    paths = {}
    try:
        with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                _, slash, path = line.rstrip("\n").partition(" /")
                if slash:
                    paths[f"/{path}"] = True
    except OSError:
        pass
    for entry in _entries("/run"):  # a container may have sockets there that are not of its own network
        inner = _entries(entry.path) if entry.is_dir(follow_symlinks=False) else [entry]
        paths.update((each.path, True) for each in inner if not each.is_dir() and not each.is_file())
    own = tuple(os.path.join(path, "") for path in writable)
    for path in list(paths)[:_MOST_SOCKETS]:
        try:
            if stat.S_ISSOCK(os.lstat(path).st_mode) and not os.path.realpath(path).startswith(own):
                yield path
        except OSError:
            continue


def _entries(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return list(entries)
    except OSError:
        return []


def _private_mounts() -> bool:
    """Keep mounts from those of this machine, which a new namespace shares."""
    return bool(_system().mount(None, b"/", None, ctypes.c_ulong(_RECURSIVE_PRIVATE), None) == 0)


def _mount(source: bytes | None, place: str, kind: bytes | None, flags: int, options: bytes | None = None) -> bool:
    return bool(_system().mount(source, os.fsencode(place), kind, ctypes.c_ulong(flags), options) == 0)


def _read_only_except(writable: Iterable[str]) -> bool:
    """Make all mounts read-only except directories, which become mounts; return whether that succeeded.

    Modes, owners, and times of files can then not be changed: Landlock has no rights for these.
    """
    writable = list(writable)
    if not all(_mount(os.fsencode(path), path, None, _RECURSIVE_BIND) for path in writable):
        return False
    os.chdir(os.getcwd())  # which is below such a mount from here on
    if not _set_read_only("/", _READ_ONLY, 0, _RECURSIVE):
        return False
    return all(_set_read_only(path, 0, _READ_ONLY, 0) for path in writable)


def _set_read_only(path: str, added: int, removed: int, flags: int) -> bool:
    attributes = ctypes.create_string_buffer(struct.pack("QQQQ", added, removed, 0, 0), 32)
    size = ctypes.c_size_t(32)
    return bool(_system().syscall(_SET_ATTRIBUTES, _HERE, os.fsencode(path), flags, attributes, size) == 0)


def _protect(writable: Iterable[str], devices: Iterable[str], has_left: bool) -> bool:
    """Allow writing below some directories and to some devices only, for this process and its children.

    Without a network of its own, it gets no TCP connections. Return whether writing is restricted.
    """
    library = _system()
    version = library.syscall(_CREATE_RULES, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    later = ((2, _REFER), (3, _TRUNCATE), (5, _DEVICE_CONTROL))
    accesses = _WRITES | sum(right for first, right in later if version >= first)
    connections = _TCP if version >= 4 and not has_left else 0
    scopes = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0
    packed = struct.pack("QQQ", accesses, connections, scopes)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    attributes = ctypes.create_string_buffer(packed, len(packed))
    rules = library.syscall(_CREATE_RULES, attributes, ctypes.c_size_t(len(packed)), 0)
    if rules < 0:
        return False
    allowed = [*((path, accesses) for path in writable), *((path, accesses & _OF_A_FILE) for path in devices)]
    for path, kinds in allowed:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError as fault:
            if fault.errno in (errno.ENOENT, errno.EACCES):
                continue
            raise
        rule = ctypes.create_string_buffer(struct.pack("=Qi", kinds, place))
        failed = library.syscall(_ADD_RULE, rules, 1, rule, 0)
        os.close(place)
        if failed:
            return False
    if library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0 or library.syscall(_RESTRICT, rules, 0) != 0:
        return False
    os.close(rules)
    return True


def _drop_privileges(kept: int) -> None:
    """Give up what root may do besides what files allow, so that the mounts stay as they are."""
    library = _system()
    library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    header = struct.pack("Ii", _CAPABILITIES_VERSION, 0)
    data = ctypes.create_string_buffer(24)
    if library.capget(header, data) != 0:
        return
    permitted = struct.unpack("6I", data.raw)[1]
    for number in range(64):
        if not kept >> number & 1:
            library.prctl(_DROP_FROM_BOUNDS, number, 0, 0, 0)
    library.capset(header, struct.pack("6I", permitted & kept, permitted & kept, 0, 0, 0, 0))


def _system() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
