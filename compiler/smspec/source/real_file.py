"""Open files by paths without links: a part that is replaced by a link meanwhile is not followed.

Each directory of the path is opened from its parent. Opening never waits for a pipe. Reading has a size limit.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from io import RawIOBase

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


def is_below(path: str, directory: str) -> bool:
    """Return whether a path is a directory or below it; both without links."""
    return path == directory or path.startswith(os.path.join(directory, ""))


def program_outside(name: str, directory: str) -> str | None:
    """Return the path of a program on PATH; None if it is missing.

    A relative part of PATH, or one in the directory, leads to what others have written.
    """
    top = os.path.realpath(directory)
    for place in os.get_exec_path():
        program = os.path.join(place, name)
        is_own = not os.path.isabs(place) or is_below(os.path.realpath(place), top)
        if not is_own and os.path.isfile(program) and os.access(program, os.X_OK):
            return program
    return None
