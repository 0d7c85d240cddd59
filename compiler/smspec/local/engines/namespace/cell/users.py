"""The user namespaces of a run: an outer one, in which mounts are made, and an inner one, in which the job is root.

The kernel locks mounts where they pass from the outer one to the inner one: the job can neither change nor remove them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from . import kernel

SHIFT = 1 << 31
"""The first of the users that no account of a machine has: those of a job that root of this machine starts."""

_COUNT = (1 << 31) - 1
_KINDS = ("uid_map", "gid_map")
_OF_MACHINE = ["0", "0", "4294967295"]


def enter_user_namespace(is_mapped: Callable[[], bool] = bool) -> None:
    """Become root of a new user namespace, with the author's rights outside.

    ``is_mapped`` lets another process map its users, and returns whether it did; else it has one user and one group:
    those of this process.
    """
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(kernel.NEW_USER, "unshare user")
    if not is_mapped():
        _map_own(user, group)


def is_machine_root() -> bool:
    """Return whether this process is root of the machine, not of a namespace."""
    return os.geteuid() == 0 and all(_read_map(kind) == [_OF_MACHINE] for kind in _KINDS)


def open_inner(*, shifted: bool = False) -> int:
    """Return a user namespace below that of this process, an open file: with the same users, or with unused ones."""
    may_map, is_inside = os.pipe()
    may_end, end = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(end)
            kernel.unshare(kernel.NEW_USER, "unshare user")
            os.write(is_inside, os.readlink("/proc/self").encode())
            os.read(may_end, 1)
        except kernel.StepFailed as fault:
            os.write(is_inside, f"-{fault.number}".encode())
        finally:
            os._exit(0)
    os.close(is_inside)
    os.close(may_end)
    try:
        answer = os.read(may_map, 32).decode() or "-1"
        if answer.startswith("-"):
            raise kernel.StepFailed("unshare user, inner", int(answer[1:]))
        for kind in _KINDS:
            text = f"0 {SHIFT} {_COUNT}\n" if shifted else "".join(f"{a} {a} {n}\n" for a, _, n in _read_map(kind))
            _write_map(f"/proc/{answer}/{kind}", text)
        return os.open(f"/proc/{answer}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as fault:
        raise kernel.StepFailed("inner users", fault.errno or 0) from None
    finally:
        os.close(may_map)
        os.close(end)
        os.waitpid(child, 0)


def can_shift(inner: int, sources: Iterable[str]) -> bool:
    """Return whether the owners of files can be shown as those of a namespace: not on every file system."""
    for source in sources:
        try:
            os.close(kernel.open_shifted(source, inner))
        except kernel.StepFailed:
            return False
    return True


def become_inner_root(inner: int, *, shifted: bool) -> None:
    """Move this process to the inner namespace, as its root."""
    kernel.enter(inner, kernel.NEW_USER)
    if shifted:
        os.setgroups([])
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
    kernel.die_with_parent()


def _map_own(user: int, group: int) -> None:
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        try:
            _write_map(f"/proc/self/{name}", text)
        except OSError as fault:
            raise kernel.StepFailed(name, fault.errno or 0) from None


def _read_map(kind: str) -> list[list[str]]:
    with open(f"/proc/self/{kind}", encoding="ascii") as file:
        return [line.split() for line in file]


def _write_map(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
