"""The system calls that Python has no functions for. Every failure is a `StepFailed` with the name of the step."""

from __future__ import annotations

import ctypes
import errno
import os
import signal

NEW_MOUNTS, NEW_NAME, NEW_IPC = 0x00020000, 0x04000000, 0x08000000
NEW_USER, NEW_PROCESSES, NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000

READ_ONLY, NO_SUID, NO_DEVICES, NO_PROGRAMS, REMOUNT = 1, 2, 4, 8, 32
NO_ACCESS_TIMES, NO_DIRECTORY_TIMES, BIND, RECURSIVE = 1024, 2048, 4096, 16384
PRIVATE, RELATIVE_TIMES = 1 << 18, 1 << 21

_DETACH = 2
_SET_PARENT_DEATH = 1
_MOUNT_SETATTR = 442
_PIVOT_ROOT = {"x86_64": 155, "i686": 217, "aarch64": 41, "riscv64": 41, "loongarch64": 41, "armv7l": 218}
_PIVOT_ROOT |= {"ppc64le": 203, "s390x": 217}
_HERE = -100
_ALL_BELOW = 0x8000
_LOCKED = {"nosuid": NO_SUID, "nodev": NO_DEVICES, "noexec": NO_PROGRAMS, "noatime": NO_ACCESS_TIMES}
_LOCKED |= {"nodiratime": NO_DIRECTORY_TIMES, "relatime": RELATIVE_TIMES}

_libc = ctypes.CDLL(None, use_errno=True)


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


def mount(kind: str, target: str, flags: int = 0, options: str = "", step: str = "mount") -> None:
    """Mount a new file system."""
    words = [os.fsencode(word) for word in (kind, target, kind)]
    _checked(_libc.mount(*words, ctypes.c_ulong(flags), options.encode()), f"{step} {kind}")


def make_private() -> None:
    """Keep what is mounted from now on from other namespaces."""
    _checked(_libc.mount(None, b"/", None, ctypes.c_ulong(PRIVATE | RECURSIVE), None), "mount")


def bind(source: str, target: str, *, writable: bool = False) -> None:
    """Show a file or directory, with everything mounted below it, at a second path."""
    flags = ctypes.c_ulong(BIND | RECURSIVE)
    _checked(_libc.mount(os.fsencode(source), os.fsencode(target), None, flags, None), f"bind {source}")
    if not writable:
        _protect(target)


def change_root(new: str) -> None:
    """Make a mounted directory the root, and detach the old one."""
    os.chdir(new)
    number = _PIVOT_ROOT.get(os.uname().machine)
    if number is None:
        raise StepFailed("pivot_root", errno.ENOSYS)
    _checked(_libc.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")
    _checked(_libc.umount2(b".", _DETACH), "umount")
    os.chdir("/")


def _protect(target: str) -> None:
    attributes = _Attributes(READ_ONLY, 0, 0, 0)
    path, size = os.fsencode(target), ctypes.c_size_t(ctypes.sizeof(attributes))
    number = ctypes.c_long(_MOUNT_SETATTR)
    if _libc.syscall(number, _HERE, path, _ALL_BELOW, ctypes.byref(attributes), size) == 0:
        return
    if ctypes.get_errno() != errno.ENOSYS:
        raise StepFailed(f"protect {target}", ctypes.get_errno())
    # Before Linux 5.12, each mount by itself, with the flags that it has: they cannot be removed.
    for place, flags in _mounts_below(target):
        wanted = ctypes.c_ulong(REMOUNT | BIND | READ_ONLY | flags)
        _checked(_libc.mount(None, os.fsencode(place), None, wanted, None), f"protect {place}")


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
