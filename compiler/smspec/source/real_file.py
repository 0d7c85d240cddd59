"""Open files by paths without links, and walk, copy, and remove directories of any depth.

Each directory of the path is opened from its parent. Opening never waits for a pipe. Reading has a size limit.

A part of a path that is replaced by a link meanwhile is not followed. A script may nest directories deeper than Python
calls: `os.walk` and `shutil.rmtree` of most versions call themselves for each level, and a path above 4,096 bytes is
too long for the system, so removal goes step by step, down and up again.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import RawIOBase
from typing import BinaryIO

MOST_LINKS = 40
"""In one path; Linux follows no more."""

_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def open_real(path: str) -> int:
    """Open a regular file at an absolute path. Raise OSError, also for a link anywhere in the path."""
    try:
        return open_below(os.sep, _steps(path))
    except OSError as fault:
        fault.filename = path
        raise


def open_real_directory(path: str) -> int:
    """Open a directory at an absolute path to list it. Raise as `open_real` does."""
    steps = _steps(path)
    if not steps:
        return os.open(os.sep, _DIRECTORY)
    above = _directory(os.sep, steps[:-1])
    try:
        return os.open(steps[-1], _DIRECTORY, dir_fd=above)
    except OSError as fault:
        fault.filename = path
        raise
    finally:
        os.close(above)


def open_below(root: str, steps: Sequence[str]) -> int:
    """Open the regular file at a path below a directory. Raise OSError, ValueError for a NUL in a name."""
    if not steps:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    above = _directory(root, steps[:-1])
    try:
        # Opening a device can have effects, so check the type before and, because it may be replaced, afterwards.
        _check_ordinary(os.stat(steps[-1], dir_fd=above, follow_symlinks=False))
        file = os.open(steps[-1], _FILE, dir_fd=above)
    finally:
        os.close(above)
    try:
        _check_ordinary(os.fstat(file))
    except OSError:
        os.close(file)
        raise
    return file


def _steps(path: str) -> list[str]:
    return [step for step in path.split(os.sep) if step]


def _directory(root: str, steps: Sequence[str]) -> int:
    directory = os.open(root, _STEP)
    for step in steps:
        try:
            below = os.open(step, _STEP, dir_fd=directory)
        finally:
            os.close(directory)
        directory = below
    return directory


def _check_ordinary(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


def read_bounded(file: RawIOBase, most: int) -> bytes:
    """Return the rest of an unbuffered file, but no more than one byte above ``most``."""
    chunks, room = [], most + 1
    while room > 0 and (chunk := file.read(room)):
        chunks.append(chunk)
        room -= len(chunk)
    return b"".join(chunks)


def sha256_of(file: BinaryIO | RawIOBase) -> str:
    """Return the SHA-256 of an open file, from its position on."""
    import hashlib  # imported late: most commands that open files compare none

    digest = hashlib.sha256()
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    return digest.hexdigest()


def is_below(path: str, directory: str) -> bool:
    """Return whether a path is a directory or below it; both without links."""
    return path == directory or path.startswith(os.path.join(directory, ""))


def program_named(name: str, path: str | None = None) -> str | None:
    """Return the path of a program on PATH, or on ``path``; None if it is missing.

    A relative part, such as the empty one of ``PATH=/usr/bin:``, leads to what others have written. A name with a slash
    is a path, which is not searched for.
    """
    if os.sep in name:
        return name if os.path.isfile(name) and os.access(name, os.X_OK) else None
    return next(_programs(name, os.get_exec_path() if path is None else path.split(os.pathsep)), None)


def program_outside(name: str, directory: str) -> str | None:
    """Return the path of a program on PATH, but of none in the directory, which others have written."""
    top = os.path.realpath(directory)
    places = [place for place in os.get_exec_path() if not is_below(os.path.realpath(place), top)]
    return next(_programs(name, places), None)


def _programs(name: str, places: Sequence[str]) -> Iterator[str]:
    for program in (os.path.join(place, name) for place in places if os.path.isabs(place)):
        if os.path.isfile(program) and os.access(program, os.X_OK):
            yield program


OUTSIDE_PROJECTS = os.sep
"""Where programs of this machine are started: a shim of asdf, mise, or the like starts what files of the current
directory, and of those above it, name. In a repository, or in /tmp, these may be a stranger's."""

_NAMING_FILES = frozenset({
    "AWS_CA_BUNDLE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
    "CONTAINERS_CONF", "CONTAINERS_REGISTRIES_CONF", "CONTAINERS_STORAGE_CONF", "DOCKER_CERT_PATH", "DOCKER_CONFIG",
    "REGISTRY_AUTH_FILE", "SSL_CERT_DIR", "SSL_CERT_FILE",
})  # fmt: skip


def variables_outside(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for a program that is started in `OUTSIDE_PROJECTS`: what they name stays the same file."""
    named = {name: os.path.abspath(variables[name]) for name in _NAMING_FILES if variables.get(name)}
    return {**variables, **named, "PWD": OUTSIDE_PROJECTS}


_ENTERED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

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
                there = os.open("..", _ENTERED, dir_fd=here)
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
    return os.open(name, _ENTERED, dir_fd=directory)


def _identity(directory: int) -> tuple[int, int]:
    status = os.fstat(directory)
    return status.st_dev, status.st_ino
