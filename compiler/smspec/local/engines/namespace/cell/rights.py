"""What the first process of a host gives up before its program starts: what a container does not have.

Nothing here can be taken back, by no process of the host: not by root, and not by a program with a set-user-ID bit.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import struct
import sys
from contextlib import suppress

from .kernel import StepFailed

_KEPT = (0, 1, 3, 4, 5, 6, 7, 8, 10, 18, 27, 29, 31)
"""The capabilities that Docker leaves a container: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP,
NET_BIND_SERVICE, SYS_CHROOT, MKNOD, AUDIT_WRITE, SETFCAP (capability.h). Not NET_RAW: slirp4netns connects packets that
a job makes itself to 127.0.0.1 of this machine."""

_DROP_BOUND, _AMBIENT, _CLEAR_ALL, _SECCOMP, _FILTER = 24, 47, 4, 22, 2
_VERSION_3 = 0x20080522
_MOST_CAPABILITIES = 64

_KEYCTL = {"x86_64": 250, "aarch64": 219, "riscv64": 219, "loongarch64": 219}
_JOIN_SESSION = 1
_CREATE_RULESET, _RESTRICT_SELF, _ASK_VERSION = 444, 446, 1
_SCOPES = 6
"""The first version of Landlock that keeps processes from abstract sockets."""

_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7, "riscv64": 0xC00000F3, "loongarch64": 0xC0000102}
"""``AUDIT_ARCH_…`` (audit.h): the call numbers of any other one mean something else."""

_REFUSED = {
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "setns": (308, 268),
    "unshare": (272, 97),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "quotactl": (179, 60),
    "lookup_dcookie": (212, 18),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "vhangup": (153, 58),
}
"""What Docker refuses to a container with these capabilities: call → number on x86-64, and on newer machines."""

_REFUSED_EVERYWHERE = (425, 426, 427, 428, 429, 430, 431, 432, 433, 442, 443, 467)
"""io_uring, the newer calls for mounts, and quotactl_fd, with one number on all machines."""

_REFUSED_ON_X86 = (172, 173)
"""iopl and ioperm."""

FILE_COMMANDS = (*range(12), *range(15, 18), *range(36, 39), 1025, 1027, 1028, *range(1030, 1039))
"""What `fcntl` may do: copies, flags, locks, owners of signals, pipes, seals, and hints, and ask for leases.

Not set one, which would let every other program wait that opens the file, nor what later kernels add.
"""

FCNTL = (72, 25)
_CLONE, _CLONE3, _IOCTL, _SOCKET = (56, 220), 435, (16, 29), (41, 198)
_TO_VIRTUAL_MACHINES = 40
"""Sockets of this family belong to no network namespace."""

_NEW_NAMESPACES = 0x7E020000
_INPUT_TO_TERMINAL = (0x5412, 0x541C)
_X32 = 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_NUMBER, _MACHINE, _FIRST, _SECOND = 0, 4, 16, 24
"""Where ``struct seccomp_data`` has the call, its machine, and the lower halves of the first two arguments."""

_CRASHES = "/proc/sys/kernel/core_pattern"
_OF_HANDLERS = 1
"""The limit of core files with which the kernel starts the handler of crashes itself, whose crash it hands to none."""

_libc = ctypes.CDLL(None, use_errno=True)
_Step = tuple[int, int, int, int]


def confine(*, shares_network: bool) -> None:
    """Give up every right that a container does not have. The caller is root in a user namespace, with one thread."""
    for number in range(_MOST_CAPABILITIES):
        if number not in _KEPT and _libc.prctl(_DROP_BOUND, number, 0, 0, 0) == -1:
            break  # the kernel knows no more
    _libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    number = _KEYCTL.get(os.uname().machine, -1)
    if number > 0:
        _libc.syscall(ctypes.c_long(number), _JOIN_SESSION, None)  # else the keys of the author's session
    refuse_crash_handler()
    if shares_network:
        _refuse_abstract_sockets()
    if filters_calls():
        _install_filter()  # while the process may do that without `no_new_privs`, which containers do not have
    _keep_capabilities()


def refuse_crash_handler(pattern: str = _CRASHES) -> None:
    """Keep crashes from the program that handles those of this machine: it is root's, outside, and keeps the memory.

    With a limit of 0, the kernel starts it, too. Without such a program, cores are files of the host.
    """
    with suppress(OSError, ValueError), open(pattern, "rb") as file:
        if file.read(1) == b"|":
            resource.setrlimit(resource.RLIMIT_CORE, (_OF_HANDLERS, _OF_HANDLERS))


def filters_calls() -> bool:
    """Return whether the numbers of the calls are known for this machine."""
    return os.uname().machine in _MACHINES and sys.maxsize > 1 << 32


def _keep_capabilities() -> None:
    kept = sum(1 << number for number in _KEPT)
    header = struct.pack("Ii", _VERSION_3, 0)
    data = struct.pack("6I", kept, kept, 0, 0, 0, 0)
    if _libc.capset(header, data) == -1:
        raise StepFailed("capset", ctypes.get_errno())


def _refuse_abstract_sockets() -> None:
    """Keep a host without a network of its own from sockets that have no path, such as those of a desktop."""
    version = _libc.syscall(ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint(_ASK_VERSION))
    if version < _SCOPES:
        return
    attributes = struct.pack("QQQ", 0, 0, 1)  # files, ports, scopes
    size = ctypes.c_size_t(len(attributes))
    rules = _libc.syscall(ctypes.c_long(_CREATE_RULESET), attributes, size, ctypes.c_uint(0))
    if rules >= 0:
        _libc.syscall(ctypes.c_long(_RESTRICT_SELF), rules, ctypes.c_uint(0))
        os.close(rules)


def _install_filter() -> None:
    steps = _filter(os.uname().machine)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
    if _libc.prctl(_SECCOMP, _FILTER, program, 0, 0) == -1:
        raise StepFailed("seccomp", ctypes.get_errno())


def _filter(machine: str) -> list[_Step]:
    """Return the program that decides about calls: each refused one jumps to the end."""
    column = 0 if machine == "x86_64" else 1
    refused = [*(numbers[column] for numbers in _REFUSED.values()), *_REFUSED_EVERYWHERE]
    refused += _REFUSED_ON_X86 if machine == "x86_64" else ()
    steps: list[_Step] = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, _MACHINES[machine]), _fail(errno.ENOSYS)]
    steps += [(_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _X32), _fail(errno.ENOSYS)]
    steps += [(_EQUAL, 0, 1, _CLONE3), _fail(errno.ENOSYS)]  # its flags are in memory; the C library uses clone then
    steps += [(_EQUAL, 0, 4, _CLONE[column]), (_LOAD, 0, 0, _FIRST), (_HAS_BITS, 0, 1, _NEW_NAMESPACES)]
    steps += [_fail(errno.EPERM), (_RETURN, 0, 0, _ALLOW)]
    steps += [(_EQUAL, 0, 5, _IOCTL[column]), (_LOAD, 0, 0, _SECOND)]
    steps += [(_EQUAL, 1, 0, _INPUT_TO_TERMINAL[0]), (_EQUAL, 0, 1, _INPUT_TO_TERMINAL[1])]
    steps += [_fail(errno.EPERM), (_RETURN, 0, 0, _ALLOW)]
    steps += [(_EQUAL, 0, 4, _SOCKET[column]), (_LOAD, 0, 0, _FIRST), (_EQUAL, 0, 1, _TO_VIRTUAL_MACHINES)]
    steps += [_fail(errno.EPERM), (_RETURN, 0, 0, _ALLOW)]
    steps += [(_EQUAL, 0, len(FILE_COMMANDS) + 3, FCNTL[column]), (_LOAD, 0, 0, _SECOND)]
    steps += [(_EQUAL, len(FILE_COMMANDS) - each, 0, command) for each, command in enumerate(FILE_COMMANDS)]
    steps += [_fail(errno.EPERM), (_RETURN, 0, 0, _ALLOW)]
    for number in refused:
        steps += [(_EQUAL, 0, 1, number), _fail(errno.EPERM)]
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


def _fail(number: int) -> _Step:
    return (_RETURN, 0, 0, _FAIL | number)
