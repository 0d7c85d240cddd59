"""The range of users that the author may use in a namespace (subuid(5)), so that files can have several owners."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass

from smspec.source.real_file import ignore_unread, walked

_FILES = ("/etc/subuid", "/etc/subgid")
_PROGRAMS = ("newuidmap", "newgidmap")
_ENOUGH = 65_535
"""Users 1 to 65,535; user 65,534 is the one without rights in images."""


@dataclass(frozen=True, slots=True)
class UserRange:
    """The first user and the first group of this machine that follow root in the namespace."""

    first_user: int
    first_group: int

    def map(self, process: int) -> bool:
        """Map users and groups of a process that has entered a new namespace; return whether that succeeded."""
        own = os.geteuid(), os.getegid()
        for program, first, mine in zip(_PROGRAMS, (self.first_user, self.first_group), own, strict=True):
            words = [program, str(process), "0", str(mine), "1", "1", str(first), str(_ENOUGH)]
            ended = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            if ended.returncode:
                return False
        return True


def own_range() -> UserRange | None:
    """Return the range of the author, if this machine has one and the programs that map it."""
    if not all(map(shutil.which, _PROGRAMS)):
        return None
    firsts = [_first(path) for path in _FILES]
    return None if None in firsts else UserRange(*[first for first in firsts if first is not None])


def has_other_owners(directory: str) -> bool:
    """Return whether anything below a directory belongs to a different user."""
    own = os.geteuid()
    for above, names, files in walked(directory, ignore_unread):
        if any(os.lstat(os.path.join(above, name)).st_uid != own for name in [*names, *files]):
            return True
    return False


def _first(path: str) -> int | None:
    user = os.geteuid()
    try:
        names = {str(user), pwd.getpwuid(user).pw_name}
    except KeyError:
        names = {str(user)}
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            entries = [line.strip().split(":") for line in file]
    except OSError:
        return None
    for entry in entries:
        is_own = len(entry) == 3 and entry[0] in names and entry[1].isdigit() and entry[2].isdigit()
        if is_own and int(entry[2]) >= _ENOUGH:
            return int(entry[1])
    return None
