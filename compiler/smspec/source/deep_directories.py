"""Walk, copy, and remove directories of any depth without recursion: a script may nest them deeper than Python calls.

`os.walk` and `shutil.rmtree` of most versions call themselves for each level, and a path above 4,096 bytes is too long
for the system, so removal goes step by step, down and up again.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_LONGEST = 4095
"""Bytes of a path for the system."""


def walked(
    root: str, unread: Callable[[str, OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield what `os.walk` yields, top down, without following links; the caller may remove directories from the list.

    Raise OSError for a directory that cannot be read; with ``unread``, call it for each path that cannot be read or is
    too long for the system, and leave it out.
    """
    ahead = [root]
    while ahead:
        directory = ahead.pop()
        directories: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    if unread is not None and len(os.fsencode(entry.path)) > _LONGEST:
                        unread(entry.path, OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG)))
                        continue
                    # Not `entry.is_dir()`, which raises for a link that leads to itself.
                    (directories if os.path.isdir(entry.path) else files).append(entry.name)
        except OSError as fault:
            if unread is None:
                raise
            unread(directory, fault)
            continue
        yield directory, directories, files
        below = [os.path.join(directory, name) for name in directories]
        ahead += [path for path in reversed(below) if not os.path.islink(path)]


def ignore_unread(_path: str, _fault: OSError) -> None:
    """Leave out what `walked` cannot read, without a word: a different part of smspec names it."""


def files_below(root: str) -> dict[str, str]:
    """Return the files and the links in a directory and those below it, name → path, without what cannot be read.

    Links to directories are left out.
    """
    found: dict[str, str] = {}
    for directory, _, names in walked(root, ignore_unread):
        for path in (os.path.join(directory, name) for name in names):
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
                found[os.path.relpath(path, root)] = path
    return found


def copy_files(originals: Mapping[str, str], target: str) -> None:
    """Copy files and links, name → original, to a directory that is new or empty, without those that cannot be read.

    Links are copied as links, and nothing is written through one: a name below that of a link, or of a file, is left
    out, as a script may have put a link to a directory of the author there.
    """
    import shutil  # imported late: slow, and few commands copy

    os.makedirs(target, exist_ok=True)
    for name, original in originals.items():
        above = os.path.dirname(name)
        while above and above not in originals:
            above = os.path.dirname(above)
        if not above:
            path = os.path.join(target, name)
            make_parents(target, name)
            with suppress(PermissionError):
                shutil.copy2(original, path, follow_symlinks=False)


def make_parents(root: str, name: str) -> None:
    """Create the directories above a name, top down: `os.makedirs` calls itself for each one that is missing."""
    for end in (index for index, letter in enumerate(name) if letter == os.sep):
        os.makedirs(os.path.join(root, name[:end]), exist_ok=True)


def remove_tree(path: str, *, ignore_errors: bool = False) -> None:
    """Remove a directory with everything in it; links are removed, never followed.

    Change the permissions of own files first where necessary. Raise OSError, unless errors are ignored.
    """
    try:
        if os.path.islink(path):
            raise NotADirectoryError(errno.ENOTDIR, "it is a link", path)
        _empty(path)
        os.rmdir(path)
    except OSError as fault:
        if not ignore_errors:
            fault.filename = fault.filename if isinstance(fault.filename, str) and "/" in fault.filename else path
            raise


def _empty(path: str) -> None:
    """Remove everything in a directory. Only one is open at a time; ``above`` leads back up from it."""
    here = _opened(path, None)
    above: list[tuple[str, list[str], tuple[int, int]]] = []
    try:
        names = _without_files(here)
        while names or above:
            if names:
                name = names.pop()
                there = _opened(name, here)
                above.append((name, names, _identity(here)))
                names = _without_files(there)
            else:
                name, names, identity = above.pop()
                there = os.open("..", _DIRECTORY, dir_fd=here)
                if _identity(there) != identity:
                    os.close(there)
                    raise OSError(errno.ESTALE, "it was moved while it was removed", path)
                os.rmdir(name, dir_fd=there)
            # A signal that raises between the two lines leaves a directory open; in the other order, it would be closed
            # twice, and so might be what another thread has opened in between.
            left, here = here, there
            os.close(left)
    finally:
        os.close(here)


def _without_files(directory: int) -> list[str]:
    """Remove everything except directories from an open one, and return the names of the directories in it."""
    names = []
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                names.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=directory)
    return names


def _opened(name: str, directory: int | None) -> int:
    """Open a directory to remove its contents."""
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if status.st_uid == os.geteuid() and status.st_mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(name, stat.S_IRWXU, dir_fd=directory)
    return os.open(name, _DIRECTORY, dir_fd=directory)


def _identity(directory: int) -> tuple[int, int]:
    status = os.fstat(directory)
    return status.st_dev, status.st_ino
