"""What hosts have written, at the end of a run: it becomes the author's, and gives no rights to other users.

The cell does this for its hosts, and `running` for those of every engine, before others may open what they wrote.
Nothing here goes by a path, which can be longer than the system takes.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SET_BITS, _EXECUTABLE = stat.S_ISUID | stat.S_ISGID, 0o111


def take_back(directory: int, user: int = -1, group: int = -1) -> bool:
    """Make a user the owner of everything below an open directory; remove devices, and the rights of programs.

    -1 leaves the owners as they are. Return False if something does not belong to this process, or cannot be read.
    """
    above: list[tuple[list[str], tuple[int, int], int]] = []
    here, mode = os.dup(directory), -1
    try:
        names, is_complete = _taken(here, user, group)
        while names or above:
            if names:
                try:
                    there, own_mode = _opened(names.pop(), here)
                except OSError as fault:
                    is_complete &= isinstance(fault, FileNotFoundError)  # a process of the author has removed it now
                    continue
                above.append((names, _identity(here), mode))
                left, here, mode = here, there, own_mode  # first: a signal that raises must not close it twice
                os.close(left)
                names, is_all = _taken(here, user, group)
                is_complete &= is_all
            else:
                there = os.open("..", DIRECTORY, dir_fd=here)
                if mode >= 0:
                    os.fchmod(here, mode)
                left, here = here, there
                os.close(left)
                names, identity, mode = above.pop()
                if _identity(here) != identity:
                    return False  # a process of the author has moved it
        return is_complete
    except OSError:
        return False
    finally:
        os.close(here)


def _taken(directory: int, user: int, group: int) -> tuple[list[str], bool]:
    """Take the entries of an open directory; return the directories in it, and whether that succeeded for all."""
    names, is_complete = [], True
    for name in os.listdir(directory):
        try:
            status = os.lstat(name, dir_fd=directory)
            if stat.S_ISDIR(status.st_mode):
                names.append(name)
            elif stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and status.st_rdev):
                os.unlink(name, dir_fd=directory)  # root of a container may create those of disks
                continue
            is_foreign = user >= 0 and (status.st_uid, status.st_gid) != (user, group)
            if is_foreign or (stat.S_ISREG(status.st_mode) and status.st_mode & (_SET_BITS | _EXECUTABLE)):
                # The kernel takes set-user-ID bits and file capabilities from programs, also if their owner stays.
                os.chown(name, user, group, dir_fd=directory, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and status.st_mode & _SET_BITS:
                mode = os.lstat(name, dir_fd=directory).st_mode
                if mode & _SET_BITS:  # it may not be a program yet
                    os.chmod(name, stat.S_IMODE(mode) & ~_SET_BITS, dir_fd=directory)
        except FileNotFoundError:
            continue
        except OSError:
            is_complete = False
    return names, is_complete


def _opened(name: str, directory: int) -> tuple[int, int]:
    """Open a directory; return it with the mode that it gets back, -1 if it was not changed."""
    mode, is_changed = stat.S_IMODE(os.lstat(name, dir_fd=directory).st_mode), False
    with suppress(PermissionError):
        if os.geteuid() and mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(name, mode | stat.S_IRWXU, dir_fd=directory)
            is_changed = True
    return os.open(name, DIRECTORY, dir_fd=directory), mode if is_changed else -1


def _identity(directory: int) -> tuple[int, int]:
    status = os.fstat(directory)
    return status.st_dev, status.st_ino
