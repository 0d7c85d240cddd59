"""A filter of system calls: what neither namespaces nor Landlock restrict, and more of it where these are missing."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

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

_OF_PROCESSES = {"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271)}
_OF_PROCESSES |= {"pidfd_getfd": (438, 438), "kcmp": (312, 272)}
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
"""What tells of changes to files that the process cannot read."""

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

_libc = ctypes.CDLL(None, use_errno=True)
_Step = tuple[int, int, int, int]
_PASS: _Step = (_RETURN, 0, 0, _ALLOW)


def number_of(call: str) -> int | None:
    """Return the number of a call of `_SHARED` on this machine, if it is known."""
    machine = _MACHINES.get(os.uname().machine)
    return None if machine is None or sys.maxsize < 1 << 32 else _SHARED[call][machine[1]]


def refuse(*, has_tree: bool, has_network: bool, has_processes: bool) -> bool:
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
