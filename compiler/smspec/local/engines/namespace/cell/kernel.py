"""The system calls that Python has no functions for. Every failure is a `StepFailed` with the name of the step.

Also the files of the kernel that processes see: devices, /proc, and /sys. None of them can be changed for this machine:
their modes, owners, and times are those of the whole machine, and a job whose root is that of the machine could change
them. `smspec check` shows them like `smspec run`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

NEW_MOUNTS, NEW_NAME, NEW_IPC = 0x00020000, 0x04000000, 0x08000000
NEW_USER, NEW_PROCESSES, NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
NEW_CONTROL_GROUPS = 0x02000000

READ_ONLY, NO_SUID, NO_DEVICES, NO_PROGRAMS, REMOUNT = 1, 2, 4, 8, 32
NO_ACCESS_TIMES, NO_DIRECTORY_TIMES, BIND, RECURSIVE = 1024, 2048, 4096, 16384
PRIVATE, RELATIVE_TIMES = 1 << 18, 1 << 21

_DETACH = 2
_SET_PARENT_DEATH = 1
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
_PIVOT_ROOT = {"x86_64": 155, "i686": 217, "aarch64": 41, "riscv64": 41, "loongarch64": 41, "armv7l": 218}
_PIVOT_ROOT |= {"ppc64le": 203, "s390x": 217}
_HERE = -100
_ALL_BELOW, _EMPTY_PATH = 0x8000, 0x1000
_CLONE, _FROM_EMPTY_PATH = 1, 4
_SHIFTED = 0x100000
_LOCKED = {"ro": READ_ONLY, "nosuid": NO_SUID, "nodev": NO_DEVICES, "noexec": NO_PROGRAMS, "noatime": NO_ACCESS_TIMES}
_LOCKED |= {"nodiratime": NO_DIRECTORY_TIMES, "relatime": RELATIVE_TIMES}

_libc = ctypes.CDLL(None, use_errno=True)

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
MASKED_OF_SYS = ("firmware", "devices/virtual/powercap")
_SAFE = NO_SUID | NO_DEVICES
_MASKED = (
    *("acpi", "asound", "interrupts", "kallsyms", "kcore", "key-users", "keys", "kpagecgroup", "kpagecount"),
    *("kpageflags", "latency_stats", "modules", "sched_debug", "scsi", "slabinfo", "timer_list", "vmallocinfo"),
)
"""What processes do not see of /proc: facts about this machine and its other processes, most of them for root alone."""


class StepFailed(Exception):
    """The kernel refused a step."""

    def __init__(self, step: str, number: int) -> None:
        super().__init__(f"{step}: {os.strerror(number)}")
        self.step = step
        self.number = number


class _Attributes(ctypes.Structure):
    """``struct mount_attr``"""

    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user")]


def unshare(kinds: int, step: str) -> None:
    """Move this process to new namespaces; for processes and users, only its children."""
    _checked(_libc.unshare(kinds), step)


def enter(namespace: int, kind: int) -> None:
    """Return to a namespace, an open file of /proc."""
    _checked(_libc.setns(namespace, kind), "setns")


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent ends. Not inherited."""
    _checked(_libc.prctl(_SET_PARENT_DEATH, int(signal.SIGKILL), 0, 0, 0), "prctl")


@contextmanager
def creating_as(user: int) -> Iterator[None]:
    """Let this process create files that belong to a user and the group with the same number."""
    _libc.setfsgid(ctypes.c_uint(user))
    _libc.setfsuid(ctypes.c_uint(user))
    try:
        yield
    finally:
        _libc.setfsuid(ctypes.c_uint(os.geteuid()))
        _libc.setfsgid(ctypes.c_uint(os.getegid()))


def mount(kind: str, target: str, flags: int = 0, options: str = "", step: str = "mount") -> None:
    """Mount a new file system."""
    words = [os.fsencode(word) for word in (kind, target, kind)]
    _checked(_libc.mount(*words, ctypes.c_ulong(flags), options.encode()), f"{step} {kind}")


def make_private() -> None:
    """Keep what is mounted from now on from other namespaces."""
    _checked(_libc.mount(None, b"/", None, ctypes.c_ulong(PRIVATE | RECURSIVE), None), "mount")


def bind(source: str, target: str, *, writable: bool = False, flags: int = NO_SUID | NO_DEVICES) -> None:
    """Show a file or directory, with everything mounted below it, at a second path."""
    kinds = ctypes.c_ulong(BIND | RECURSIVE)
    _checked(_libc.mount(os.fsencode(source), os.fsencode(target), None, kinds, None), f"bind {source}")
    protect(target, flags if writable else flags | READ_ONLY)


def bind_shifted(source: str, target: str, users: int, *, writable: bool = False) -> None:
    """Do that with the owners that files have in a user namespace, an open file: root's files are of its root."""
    attach(open_shifted(source, users, NO_SUID | NO_DEVICES | (0 if writable else READ_ONLY)), target)


def attach(tree: int, target: str) -> None:
    """Give a mount that is an open file its place, and close the file."""
    try:
        result = _libc.syscall(
            ctypes.c_long(_MOVE_MOUNT), tree, b"", _HERE, os.fsencode(target), ctypes.c_uint(_FROM_EMPTY_PATH)
        )
        _checked(result, f"attach {target}")
    finally:
        os.close(tree)


def open_shifted(source: str, users: int, flags: int = 0) -> int:
    """Return such a mount, an open file, before it has a place (Linux 5.12, and not every file system)."""
    options = ctypes.c_uint(_CLONE | _ALL_BELOW | os.O_CLOEXEC)
    tree = _libc.syscall(ctypes.c_long(_OPEN_TREE), _HERE, os.fsencode(source), options)
    _checked(tree, f"bind {source}")
    attributes = _Attributes(flags | _SHIFTED, 0, 0, users)
    if _set_attributes(tree, b"", _ALL_BELOW | _EMPTY_PATH, attributes) != 0:
        number = ctypes.get_errno()
        os.close(tree)
        raise StepFailed(f"bind {source}", number)
    return int(tree)


def change_root(new: str) -> None:
    """Make a mounted directory the root, and detach the old one."""
    os.chdir(new)
    number = _PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        raise StepFailed("pivot_root", errno.ENOSYS)
    _checked(_libc.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")
    _checked(_libc.umount2(b".", _DETACH), "umount")
    os.chdir("/")


def protect(target: str, flags: int) -> None:
    """Add flags to a mount, and to everything mounted below it."""
    if _set_attributes(_HERE, os.fsencode(target), _ALL_BELOW, _Attributes(flags, 0, 0, 0)) == 0:
        return
    if ctypes.get_errno() != errno.ENOSYS:
        raise StepFailed(f"protect {target}", ctypes.get_errno())
    # Before Linux 5.12, each mount by itself, with the flags that it has: they cannot be removed.
    for place, present in _mounts_below(target):
        wanted = ctypes.c_ulong(REMOUNT | BIND | flags | present)
        _checked(_libc.mount(None, os.fsencode(place), None, wanted, None), f"protect {place}")


def _set_attributes(directory: int, path: bytes, options: int, attributes: _Attributes) -> int:
    number, size = ctypes.c_long(_MOUNT_SETATTR), ctypes.c_size_t(ctypes.sizeof(attributes))
    return int(_libc.syscall(number, directory, path, ctypes.c_uint(options), ctypes.byref(attributes), size))


def _mounts_below(directory: str) -> list[tuple[str, int]]:
    """Return (place, flags) of every mount at or below a directory."""
    found = []
    with open("/proc/self/mountinfo", "rb") as file:
        for line in file:
            words = line.split()
            place = os.fsdecode(words[4].decode("unicode_escape").encode("latin-1"))
            if place == directory or place.startswith(directory + "/"):
                options = words[5].decode().split(",")
                found.append((place, sum(_LOCKED.get(option, 0) for option in options)))
    return found


def _checked(result: int, step: str) -> None:
    if result == -1:
        raise StepFailed(step, ctypes.get_errno())


def show_device(path: str, target: str) -> None:
    """Show a device at an existing file. It can be written to, although its mount is read-only."""
    bind(path, target, flags=NO_SUID)


def protect_proc(directory: str, null: str, *, with_processes: bool = False) -> None:
    """Hide entries of a /proc, and make all others read-only. ``null``: /dev/null.

    ``with_processes``: also the entries of processes. What /proc/PID/net has belongs to a network, and its owner could
    change modes for all that share it. No mount covers the entries of later processes.
    """
    for name in _MASKED:
        hide(f"{directory}/{name}", null)
    for name in os.listdir(directory):
        path = f"{directory}/{name}"
        if not name.isdigit() and name not in _MASKED and not os.path.islink(path):
            bind(path, path, flags=_SAFE | NO_PROGRAMS)
    if with_processes:
        protect(directory, READ_ONLY)


def hide(path: str, null: str = "/dev/null") -> None:
    """Show an empty directory or file instead of one, if it is there."""
    if os.path.isdir(path):
        mount("tmpfs", path, _SAFE | READ_ONLY, "mode=755")
    elif os.path.exists(path):
        bind(null, path, flags=NO_SUID)
