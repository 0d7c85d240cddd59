"""Landlock: files that a process and its children may use, abstract sockets, and signals (Linux 5.13)."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

SYSTEM = ("/proc", "/sys")
"""What a process can read without mounts of its own, besides the programs and libraries of this machine."""

_CREATE_RULES, _ADD_RULE, _RESTRICT = 444, 445, 446
"""System calls with the same numbers on all architectures."""

_WRITES = sum(1 << bit for bit in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12))
_READS = 1 << 0 | 1 << 2 | 1 << 3
_REFER, _TRUNCATE, _DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15
_OF_A_FILE = 1 << 0 | 1 << 1 | 1 << 2 | _TRUNCATE | _DEVICE_CONTROL
_TCP, _ABSTRACT_SOCKETS_AND_SIGNALS = 0b11, 0b11

_libc = ctypes.CDLL(None, use_errno=True)


def restrict(writable: Iterable[str], devices: Iterable[str], readable: list[str], *, has_network: bool) -> int:
    """Allow writing below some directories and to some devices only, and reading only those and what is ``readable``.

    Nothing readable: everything is. Without a network of its own, the process gets no TCP connections. Return the
    version of Landlock, 0 if there is none. It needs a process without new privileges.
    """
    version = int(_libc.syscall(_CREATE_RULES, None, ctypes.c_size_t(0), 1))
    if version < 1:
        return 0
    later = ((2, _REFER), (3, _TRUNCATE), (5, _DEVICE_CONTROL))
    reads = _READS if readable else 0
    accesses = _WRITES | reads | sum(right for first, right in later if version >= first)
    connections = _TCP if version >= 4 and not has_network else 0
    scopes = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0
    packed = struct.pack("QQQ", accesses, connections, scopes)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    rules = _libc.syscall(_CREATE_RULES, packed, ctypes.c_size_t(len(packed)), 0)
    if rules < 0:
        return 0
    allowed = [(path, accesses) for path in (*writable, *devices)]
    allowed += [(path, reads) for path in readable]
    if not all(_allow(rules, path, kinds) for path, kinds in allowed):
        return 0
    if _libc.syscall(_RESTRICT, rules, 0) != 0:
        return 0
    os.close(rules)
    return version


def _allow(rules: int, path: str, kinds: int) -> bool:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return True  # there is nothing to allow
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        kinds &= _OF_A_FILE
    failed = _libc.syscall(_ADD_RULE, rules, 1, struct.pack("=Qi", kinds, place), 0)
    os.close(place)
    return not failed
