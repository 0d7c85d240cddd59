"""What a process may do besides what files allow: users, groups, capabilities, and keys."""

from __future__ import annotations

import ctypes
import os
import struct

from . import calls

_DROP_FROM_BOUNDS, _NO_NEW_PRIVILEGES = 24, 38
_AMBIENT, _CLEAR_ALL = 47, 4
_SET_DUMPABLE = 4
_CAPABILITIES_VERSION = 0x20080522
_JOIN_SESSION = 1

_libc = ctypes.CDLL(None, use_errno=True)


def leave_groups() -> None:
    """Leave the other groups, such as Docker's: only root may."""
    try:
        os.setgroups([])
    except OSError:
        pass


def map_users(process: int) -> bool:
    """Give users the same numbers in the new namespace of a process; return whether the system allows it.

    Root gets all of them, to show files of other users: it has no rights to these after `drop`. Others get their own.
    """
    user, group = os.geteuid(), os.getegid()
    maps = [("uid_map", _all("uid_map")), ("gid_map", _all("gid_map"))]
    if user or not all(_write(process, name, text) for name, text in maps):
        own = [("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")]
        return all(_write(process, name, text) for name, text in own)
    return True


def drop() -> None:
    """Give up every capability, also those of programs with a set-user-ID bit, and the keys of the author's session."""
    _libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    keys = calls.number_of("keyctl")
    if keys is not None:
        _libc.syscall(ctypes.c_long(keys), _JOIN_SESSION, None)
    _libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    for number in range(64):
        _libc.prctl(_DROP_FROM_BOUNDS, number, 0, 0, 0)
    _libc.capset(struct.pack("Ii", _CAPABILITIES_VERSION, 0), struct.pack("6I", 0, 0, 0, 0, 0, 0))


def refuse_tracing() -> None:
    """Keep other processes from tracing this one, and from its variables; a program that it becomes can be traced."""
    _libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def _all(name: str) -> str:
    """Return a map with every number that this process can have itself."""
    try:
        with open(f"/proc/self/{name}", encoding="ascii") as file:
            extents = [line.split() for line in file]
    except OSError:
        return ""
    return "".join(f"{inside} {inside} {count}\n" for inside, _, count in extents)


def _write(process: int, name: str, text: str) -> bool:
    try:
        with open(f"/proc/{process}/{name}", "w", encoding="ascii") as file:
            file.write(text)
    except OSError:
        return False
    return True
