"""What a process may do: users, groups, capabilities, and keys; files by Landlock; and a filter of system calls.

Landlock (Linux 5.13) restricts files that a process and its children may use, abstract sockets, and signals. The filter
is for what neither namespaces nor Landlock restrict, and for more of it where these are missing.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import sys
from collections.abc import Iterable

from smspec.local.engines.namespace.cell.rights import FCNTL, FILE_COMMANDS

_DROP_FROM_BOUNDS, _NO_NEW_PRIVILEGES = 24, 38
_AMBIENT, _CLEAR_ALL = 47, 4
_SET_DUMPABLE = 4
_CAPABILITIES_VERSION = 0x20080522
_JOIN_SESSION = 1

_libc = ctypes.CDLL(None, use_errno=True)

READABLE = ("/proc", "/sys")
"""What a process can read without mounts of its own, besides the programs and libraries of this machine."""

_CREATE_RULES, _ADD_RULE, _RESTRICT = 444, 445, 446
"""System calls with the same numbers on all architectures."""

_WRITES = sum(1 << bit for bit in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12))
_READS = 1 << 0 | 1 << 2 | 1 << 3
_REFER, _TRUNCATE, _DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15
_OF_A_FILE = 1 << 0 | 1 << 1 | 1 << 2 | _TRUNCATE | _DEVICE_CONTROL
_TCP, _ABSTRACT_SOCKETS_AND_SIGNALS = 0b11, 0b11

_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""``AUDIT_ARCH_…`` (audit.h), and the column of the numbers below. Those of others are unknown."""

_SHARED = {
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
}
"""Every process shares these with others of this machine, or gets rights by them: call → number on each machine."""

_OF_PROCESSES = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
}
_OF_MEMORY = {
    "shmget": (29, 194),
    "shmctl": (31, 195),
    "shmat": (30, 196),
    "semget": (64, 190),
    "semctl": (66, 191),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgctl": (71, 187),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
}
"""Memory and queues that have a number instead of a path."""

_OF_FILES = {"inotify_add_watch": (254, 27)}
"""These report changes to files that the process cannot read."""

_SOCKET, _PAIR, _CLONE, _CLONE3, _IOCTL = (41, 198), (53, 199), (56, 220), 435, (16, 29)
_SET_PRIORITY, _SET_IO_PRIORITY, _SET_LIMIT = (141, 140), (251, 30), (302, 261)
_FAMILIES_OF_A_NETWORK, _FAMILIES_OF_FILES = (2, 10, 16), (1,)
"""Families of sockets: both of the internet and netlink, and Unix. Others lead to the host of a virtual machine, …"""

_STREAM, _SEQUENCE, _KIND = 1, 5, 0xF
_NEW_NAMESPACES = 0x7E020000
_INPUT_TO_TERMINAL = (0x5412, 0x541C)
_X32 = 0x40000000

_SET_FILTER, _FILTER = 22, 2
_LOAD, _AND, _EQUAL, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
"""Where ``struct seccomp_data`` has the call, its machine, and the lower halves of the arguments, 8 bytes each."""

_Step = tuple[int, int, int, int]
_PASS: _Step = (_RETURN, 0, 0, _ALLOW)


def leave_groups() -> None:
    """Leave the other groups, such as Docker's: only root may, and the packages of the job may be theirs."""
    try:
        os.setgroups([])
    except OSError:
        pass


def has_other_groups() -> bool:
    """Return whether this process can still read what belongs to a different group."""
    return bool(set(os.getgroups()) - {os.getegid()})


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
    keys = number_of("keyctl")
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


def restrict_files(writable: Iterable[str], devices: Iterable[str], readable: list[str], *, has_network: bool) -> int:
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


def number_of(call: str) -> int | None:
    """Return the number of a call of `_SHARED` on this machine, if it is known."""
    machine = _MACHINES.get(os.uname().machine)
    return None if machine is None or sys.maxsize < 1 << 32 else _SHARED[call][machine[1]]


def refuse_calls(*, has_tree: bool, has_network: bool, has_processes: bool) -> bool:
    """Install the filter for this process and its children; return whether the system has it.

    It refuses more where the process has no files, no network and memory, or no processes of its own.
    """
    machine = _MACHINES.get(os.uname().machine)
    if machine is None or sys.maxsize < 1 << 32:
        return False
    steps = _filter(*machine, has_tree=has_tree, has_network=has_network, has_processes=has_processes)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code))
    return bool(_libc.prctl(_SET_FILTER, _FILTER, program, 0, 0) == 0)


def _filter(code: int, column: int, *, has_tree: bool, has_network: bool, has_processes: bool) -> list[_Step]:
    named = dict(_SHARED)
    for is_own, calls in ((has_tree, _OF_FILES), (has_network, _OF_MEMORY), (has_processes, _OF_PROCESSES)):
        named |= {} if is_own else calls
    steps = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, code), _failed(errno.ENOSYS), (_LOAD, 0, 0, _NUMBER)]
    steps += [(_AT_LEAST, 0, 1, _X32), _failed(errno.ENOSYS)]
    steps += _where(_CLONE3, _failed(errno.ENOSYS))  # its flags are in memory; the C library uses clone then
    steps += _where(_CLONE[column], *_argument(0), (_HAS_BITS, 0, 1, _NEW_NAMESPACES), _failed(), _PASS)
    steps += _where(_IOCTL[column], *_argument(1), *_never(*_INPUT_TO_TERMINAL))
    steps += _where(FCNTL[column], *_argument(1), *_only(*FILE_COMMANDS))
    families = (*(_FAMILIES_OF_A_NETWORK if has_network else ()), *(_FAMILIES_OF_FILES if has_tree else ()))
    steps += _where(_SOCKET[column], *_argument(0), *_only(*families, fault=errno.EACCES))
    if not has_tree:  # a pair of datagram sockets could be connected to others later
        steps += _where(_PAIR[column], *_argument(1), (_AND, 0, 0, _KIND), *_only(_STREAM, _SEQUENCE))
    if not has_processes:
        for call, own in ((_SET_PRIORITY, 0), (_SET_IO_PRIORITY, 1)):
            kind = [*_argument(0), (_EQUAL, 1, 0, own), _failed()]
            steps += _where(call[column], *kind, *_argument(1), *_only(0))
        steps += _where(_SET_LIMIT[column], *_argument(0), *_only(0))
    for numbers in named.values():
        steps += _where(numbers[column], _failed())
    return [*steps, _PASS]


def _where(number: int, *steps: _Step) -> list[_Step]:
    """Return steps for one call only. They end with a decision."""
    return [(_EQUAL, 0, len(steps), number), *steps]


def _argument(index: int) -> list[_Step]:
    return [(_LOAD, 0, 0, _ARGUMENTS + 8 * index)]


def _only(*values: int, fault: int = errno.EPERM) -> list[_Step]:
    """Allow a call if what was loaded is one of these."""
    count = len(values)
    return [*((_EQUAL, count - index, 0, value) for index, value in enumerate(values)), _failed(fault), _PASS]


def _never(*values: int) -> list[_Step]:
    """Refuse a call if what was loaded is one of these."""
    count = len(values)
    return [*((_EQUAL, count - index, 0, value) for index, value in enumerate(values)), _PASS, _failed()]


def _failed(number: int = errno.EPERM) -> _Step:
    return (_RETURN, 0, 0, _FAIL | number)
