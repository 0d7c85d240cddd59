"""What a command may read because of a spec: ordinary files inside one directory, links followed.

Pull requests come from strangers. A path in one may lead to the environment of a process, to a key in a home directory
or to a pipe that never ends, so nothing outside the directory is opened, and git's own files inside it neither: a
checkout keeps the token of its run in ``.git/config``.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator

from smspec.source.below import is_below
from smspec.source.bounded_read import read_bounded
from smspec.source.real_file import open_below
from smspec.workspace.detour import has_detour
from smspec.workspace.missing_path import is_missing
from smspec.workspace.parent_directories import upwards

_GIT = ".git"
_OF_THE_KERNEL = ("/proc", "/sys", "/dev")


class FileNotRead(Exception):
    """A file is not read. ``path`` is as the author would write it; the subclass says why in ``reason``."""

    reason = ""

    def __init__(self, path: str) -> None:
        super().__init__(f"`{path}` {self.reason}")
        self.path = path


class OutOfBounds(FileNotRead):
    """A path leads out of the boundary."""

    reason = "is outside the repository"


class NotAnOrdinaryFile(FileNotRead):
    """A path leads to nothing, or to a directory, a pipe or a device."""

    reason = "is not a regular file"


class NotASpec(FileNotRead):
    """A file that is named as a spec does not say that it is one, so nothing of it may be shown."""

    reason = "is not a spec"


class OtherName(FileNotRead):
    """A file whose name says what is in it is a link to one of another name, which may hold anything."""

    reason = "is a link to a file with a different name"


class Boundary:
    """The directory at ``root``, which has no links in it, and all below it.

    The links of a path are followed once: the specs of a repository name the same files, and a command sees one state
    of the disk. A path that is opened has no links any more.
    """

    __slots__ = ("_ways", "root")

    def __init__(self, root: str) -> None:
        self.root = root
        self._ways: dict[str, tuple[str, ...] | None] = {}

    def contains(self, path: str) -> bool:
        """Return whether a path, links followed, leads to a place inside; nothing need be there."""
        return self._steps(path) is not None

    def is_of_git(self, path: str) -> bool:
        """Return whether a path leads to one of git's own files inside."""
        steps = self._way(path)
        return steps is not None and _is_of_git(steps)

    def is_file(self, path: str) -> bool:
        """Return whether a path leads to an ordinary file inside. Raises OSError when that cannot be told."""
        return self._has_mode(path, stat.S_ISREG)

    def is_directory(self, path: str) -> bool:
        """Return whether a path leads to a directory inside. Raises OSError when that cannot be told."""
        return self._has_mode(path, stat.S_ISDIR)

    def read(self, path: str, most: int) -> bytes:
        """Return what is in an ordinary file, but no more than one byte above ``most``.

        Raises `OutOfBounds`, `NotAnOrdinaryFile`, and OSError if the disk fails.
        """
        with open(self.open(path), "rb", buffering=0) as file:
            return read_bounded(file, most)

    def read_named(self, path: str, most: int) -> bytes:
        """Return what `read` does, of a file that is known by its name. Raises `OtherName` for a link to another."""
        if self.is_file(path) and os.path.basename(os.path.realpath(path)) != os.path.basename(path):
            raise OtherName(path)
        return self.read(path, most)

    def open(self, path: str) -> int:
        """Open an ordinary file for reading. Raises as `read` does.

        Links are followed before it is decided, and none is any more when it is opened.
        """
        steps = self._steps(path)
        if steps is None:
            raise OutOfBounds(path)
        try:
            return open_below(self.root, steps)
        except (OSError, ValueError) as fault:
            if is_missing(fault):
                raise NotAnOrdinaryFile(path) from None
            if isinstance(fault, OSError):
                fault.filename = path
            raise

    def upwards(self, directory: str) -> Iterator[str]:
        """Yield a directory and each one above it, as far as they are inside."""
        steps = self._steps(directory)
        if steps is None:
            return
        here = os.path.abspath(directory)
        has_links = os.path.join(self.root, *steps) != here
        for above in upwards(here):
            if not (self.contains(above) if has_links else is_below(above, self.root)):
                return
            yield above

    def _has_mode(self, path: str, is_wanted: Callable[[int], bool]) -> bool:
        if self._steps(path) is None:
            return False
        try:
            return is_wanted(os.stat(path).st_mode)
        except (OSError, ValueError) as fault:
            if is_missing(fault):
                return False
            raise

    def _steps(self, path: str) -> tuple[str, ...] | None:
        """Return the names that lead from the root to what a path means; None for what is not to be read."""
        steps = self._way(path)
        return None if steps is None or _is_of_git(steps) else steps

    def _way(self, path: str) -> tuple[str, ...] | None:
        if path not in self._ways:
            self._ways[path] = self._followed(path)
        return self._ways[path]

    def _followed(self, path: str) -> tuple[str, ...] | None:
        try:
            real = os.path.realpath(path)
        except ValueError:
            real = os.path.abspath(path)  # no file can be called so: whatever asks for it finds none
        except OSError:
            return None  # a link was exchanged while it was followed
        has_links = real != os.path.abspath(path)
        if not is_below(real, self.root) or (has_links and has_detour(path, self.root)):
            return None
        if real.startswith(_OF_THE_KERNEL) and any(
            is_below(real, place) and not is_below(self.root, place) for place in _OF_THE_KERNEL
        ):
            return None
        return tuple(step for step in real[len(self.root) :].split(os.sep) if step)


def _is_of_git(steps: tuple[str, ...]) -> bool:
    return any(step.lower() == _GIT for step in steps)  # there are systems on which `.GIT` is the same
