"""Run a command that can write to few directories and reach no network: a standalone program.

``confinement.py OPTIONS WORD…``: the options are a JSON object, ``writable`` a list of directories, ``devices`` one of
files, ``seconds`` the limit of processor time, ``bytes`` the largest file. What the system cannot enforce is named in
the environment of the command, for its driver: Python's own functions then refuse it.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import resource
import socket
import struct
import sys
from collections.abc import Iterable

PROGRAM = os.path.abspath(__file__)
OPEN = "SMSPEC_CHECK_OPEN"
"""Names what is not enforced: ``files``, ``network``, or both."""

_NEW_USER, _NEW_NETWORK, _NEW_MOUNTS = 0x10000000, 0x40000000, 0x00020000
_MEMORY = b"/dev/shm"
"""Semaphores and shared memory of `multiprocessing`."""

_RECURSIVE_PRIVATE = 0x44000
_NO_PROGRAMS = 2 | 4
_NO_NEW_PRIVILEGES = 38
_CREATE_RULES, _ADD_RULE, _RESTRICT = 444, 445, 446
"""System calls of Landlock, with the same numbers on all architectures."""

_WRITES = sum(1 << bit for bit in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12))
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_OF_A_FILE = 1 << 1 | _TRUNCATE
_SET_FLAGS, _UP = 0x8914, 0x41


def main(options: str, words: list[str]) -> int:
    """Confine this process and become the command. Return only if it cannot be started."""
    wanted = json.loads(options)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for kind, limit in ((resource.RLIMIT_CPU, wanted["seconds"]), (resource.RLIMIT_FSIZE, wanted["bytes"])):
        _, most = resource.getrlimit(kind)
        limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(kind, (limit, most))
    has_left = _leave_network()
    own_memory = [os.fsdecode(_MEMORY)] if has_left and _own_memory(wanted["bytes"]) else []
    is_protected = _protect([*wanted["writable"], *own_memory], wanted["devices"])
    missing = [name for name, done in (("network", has_left), ("files", is_protected)) if not done]
    os.environ[OPEN] = ",".join(missing)
    try:
        os.execvp(words[0], words)
    except OSError as fault:
        os.write(2, f"cannot start `{words[0]}`: {fault.strerror}\n".encode())
    return 127


def _leave_network() -> bool:
    """Move to a network of its own with nothing but loopback, and to mounts of its own; return whether that succeeded.

    Only Linux has them.
    """
    if not sys.platform.startswith("linux"):
        return False
    user, group = os.getuid(), os.getgid()
    library = ctypes.CDLL(None, use_errno=True)
    if not (user == 0 and library.unshare(_NEW_NETWORK | _NEW_MOUNTS) == 0):
        if library.unshare(_NEW_USER | _NEW_NETWORK | _NEW_MOUNTS) != 0:
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


def _own_memory(size: int) -> bool:
    """Replace the shared memory of this machine by one that ends with the processes; return whether that succeeded."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.mount(None, b"/", None, ctypes.c_ulong(_RECURSIVE_PRIVATE), None) != 0:
        return False
    options = f"size={size},mode=1777".encode()
    return bool(library.mount(b"tmpfs", _MEMORY, b"tmpfs", ctypes.c_ulong(_NO_PROGRAMS), options) == 0)


def _protect(writable: Iterable[str], devices: Iterable[str]) -> bool:
    """Allow writing below some directories and to some devices only, for this process and its children.

    Return whether that succeeded.
    """
    if not sys.platform.startswith("linux"):
        return False
    library = ctypes.CDLL(None, use_errno=True)
    version = library.syscall(_CREATE_RULES, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    accesses = _WRITES | (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0)
    attributes = ctypes.create_string_buffer(struct.pack("Q", accesses))
    rules = library.syscall(_CREATE_RULES, attributes, ctypes.c_size_t(8), 0)
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


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
