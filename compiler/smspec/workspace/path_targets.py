"""What a path leads to: the directories above it, its links, and whether there is a file at its end.

A missing file is the author's error, a disk that fails is not. A link may lead out of a directory and back into it; the
target of such a link depends on what is outside: `../../alice/../repository/file` is that file only if there is an
`alice`. Following one would reveal to a stranger what exists on a machine.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator

from smspec.source.real_file import MOST_LINKS, is_below

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL})


def directories_of(place: str) -> Iterator[str]:
    """Yield the directories above a place in a repository, the innermost first, without the top."""
    while place := place.rpartition("/")[0]:
        yield place


def upwards(directory: str) -> Iterator[str]:
    """Yield the absolute path of a directory, then of each of its parents."""
    here = os.path.abspath(directory)
    yield here
    while (parent := os.path.dirname(here)) != here:
        here = parent
        yield here


def repository_top(directory: str) -> str | None:
    """Return the top of the git repository that contains a directory; None outside of one."""
    return next(filter(is_repository_top, upwards(directory)), None)


def is_repository_top(directory: str) -> bool:
    """Return whether a directory is the top of a git repository, a submodule, or a work tree."""
    return os.path.lexists(os.path.join(directory, ".git"))


class RealPaths:
    """Returns what `os.path.realpath` does, for one state of the disk."""

    __slots__ = ("_is_link", "_without_links")

    def __init__(self) -> None:
        self._is_link: dict[str, bool] = {}
        self._without_links: dict[str, str] = {}

    def of(self, path: str) -> str:
        """Return the real path of ``path``, which need not exist."""
        if path.startswith("//"):
            return os.path.realpath(path)  # POSIX lets a system give this a meaning of its own
        real = self._followed(path)
        return os.path.realpath(path) if real is None else real

    def _followed(self, path: str) -> str | None:
        """Return the real path; None if a link is on the way."""
        real = "" if path.startswith(os.sep) else os.getcwd()  # the system's name of it has no links
        for step in path.split(os.sep):
            if step == os.pardir:
                real = real.rpartition(os.sep)[0]
            elif step and step != os.curdir:
                real = f"{real}{os.sep}{step}" if real != os.sep else f"{real}{step}"
                if real not in self._is_link:
                    self._is_link[real] = _is_link(real)
                if self._is_link[real]:
                    return None
        return real or os.sep

    def without_links(self, path: str) -> str:
        """Return the real path of ``path`` if no link is on the way to it, so that nothing else decides; else empty."""
        if path not in self._without_links:
            is_plain = "\0" not in path and not path.startswith("//")
            real = self._followed(path) if is_plain else None
            self._without_links[path] = "" if real is None else real
        return self._without_links[path]


def _is_link(path: str) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except (OSError, ValueError):  # ValueError: no file can have the name
        return False


def has_detour(path: str, root: str) -> bool:
    """Return whether a link below ``root``, which has no links in it, leaves it on the way to the target of a path.

    The directories above ``root`` do not count: a link may go up through them and down again.
    """
    return any(
        is_guarded and target is None and not is_below(there, root) and not is_below(root, there)
        for there, target, is_guarded in _way(path, root)
    )


def places_on_the_way(path: str) -> tuple[str, ...]:
    """Return all that decides what a path leads to: the path, each link on the way to its target, and the target.

    Each is without links above it. `..` after a link is read in both ways: as text, and as the system does.
    """
    found: dict[str, None] = {}
    for whole in dict.fromkeys((os.path.abspath(path), os.path.join(os.getcwd(), path))):
        end = os.sep
        for there, target, _ in _way(whole, os.sep):
            if target is not None:
                found[there] = None
            else:
                end = there
        found[os.path.realpath(whole)] = found[end] = None
    return tuple(found)


def _way(path: str, root: str) -> Iterator[tuple[str, str | None, bool]]:
    """Yield each place on the way to the target of a path, without links above it, and its own target if it is a link.

    The last value: whether a link below ``root`` leads there.
    """
    here, links = os.sep, 0
    ahead = [(step, False) for step in reversed(os.path.join(os.getcwd(), path).split(os.sep))]
    while ahead:
        step, is_from_link = ahead.pop()
        if step in ("", os.curdir):
            continue
        if step == os.pardir:
            here = os.path.dirname(here)
            continue
        there = os.path.join(here, step)
        target = _target(there) if links < MOST_LINKS else None
        yield there, target, is_from_link
        if target is None:
            here = there
        else:
            links += 1
            here = os.sep if os.path.isabs(target) else here
            is_guarded = is_from_link or is_below(there, root)
            ahead += [(step, is_guarded) for step in reversed(target.split(os.sep))]


def _target(path: str) -> str | None:
    """Return the target of a link; None for what is not a link, or cannot be read."""
    try:
        return os.readlink(path)
    except (OSError, ValueError):
        return None


def goes_up_first(path: str) -> bool:
    """Return whether no step of a relative path goes up behind another, which may be a link."""
    steps = [step for step in path.split("/") if step not in ("", os.curdir)]
    ups = next((number for number, step in enumerate(steps) if step != os.pardir), len(steps))
    return not path.startswith("/") and os.pardir not in steps[ups:]


def is_missing(fault: OSError | ValueError) -> bool:
    """Return whether a path does not exist; ValueError: no file can have the name (NUL, or not in the locale)."""
    return isinstance(fault, ValueError) or fault.errno in _ABSENT


def is_file(path: str) -> bool:
    """Return whether ``path`` leads to a regular file. Raise OSError if that is unknown."""
    mode = _mode(path)
    return mode is not None and stat.S_ISREG(mode)


def is_directory(path: str) -> bool:
    """Return whether ``path`` leads to a directory. Raise OSError if that is unknown."""
    mode = _mode(path)
    return mode is not None and stat.S_ISDIR(mode)


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except (OSError, ValueError) as fault:
        if is_missing(fault):
            return None
        raise


def not_found(path: str, written: str, what: str = "") -> str:
    """Return a message that a path, ``written`` so, leads to no ``what``; mention a dangling symlink."""
    link = path.rstrip("/")
    if os.path.islink(link) and not os.path.exists(link):
        return f"`{written}` is a link to `{os.readlink(link)}`, which does not exist"
    return f"cannot find {what} `{written}`" if what else f"cannot find `{written}`"


def place_of(path: str) -> str:
    """Return the real path of the directory of a file, with its own name, which may be that of a link."""
    path = os.path.abspath(path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
