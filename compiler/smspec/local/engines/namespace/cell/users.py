"""The user namespace of a run: the author is root in it, with the author's rights outside."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from . import kernel


def enter_user_namespace(is_mapped: Callable[[], bool] = bool) -> None:
    """Become root of a new user namespace.

    ``is_mapped`` lets another process map its users, and returns whether it did; else it has one user and one group:
    those of this process.
    """
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(kernel.NEW_USER, "unshare user")
    if not is_mapped():
        _map_own(user, group)
    kernel.die_with_parent()  # after that: the kernel forgets it where a process gets new rights


def give_back(directories: Iterable[str]) -> None:
    """Make root, who is the author, the owner of everything below some directories. Links are not followed."""
    for directory in directories:
        for above, names, files in os.walk(directory):
            for name in [*names, *files]:
                path = os.path.join(above, name)
                try:
                    status = os.lstat(path)
                    if status.st_uid or status.st_gid:
                        os.lchown(path, 0, 0)
                except OSError:
                    continue  # a process of the author has removed it now


def _map_own(user: int, group: int) -> None:
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        try:
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
        except OSError as fault:
            raise kernel.StepFailed(name, fault.errno or 0) from None
