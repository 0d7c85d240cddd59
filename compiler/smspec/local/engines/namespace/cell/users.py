"""The user namespace of a run: the author is root in it, with the author's rights outside."""

from __future__ import annotations

import os

from . import kernel


def enter_user_namespace() -> None:
    """Become root of a new user namespace that has one user and one group: those of this process."""
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(kernel.NEW_USER, "unshare user")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        try:
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
        except OSError as fault:
            raise kernel.StepFailed(name, fault.errno or 0) from None
    kernel.die_with_parent()  # after that: the kernel forgets it where a process gets new rights
