"""What a command may read because of a spec: regular files inside one directory, links followed.

Pull requests may come from strangers. A path in one may lead to the environment of a process, to a key in a home
directory, or to an endless pipe, so nothing outside the directory is opened, and neither are git's own files inside it:
a checkout keeps the token of its run in ``.git/config``.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator

from smspec.source.real_file import is_below, open_below, read_bounded
from smspec.workspace.links_on_the_way import has_detour
from smspec.workspace.missing_path import is_missing
from smspec.workspace.parent_directories import upwards
from smspec.workspace.real_paths import RealPaths

_GIT = ".git"
_OF_THE_KERNEL = ("/proc", "/sys", "/dev")


class FileNotRead(Exception):
    """A file is not read. ``path`` is as the author would write it; the subclass sets ``reason``."""

    reason = ""

    def __init__(self, path: str) -> None:
        super().__init__(f"`{path}` {self.reason}")
        self.path = path


class OutOfBounds(FileNotRead):
    """A path leads out of the boundary."""

    reason = "is outside the repository"


class NotAnOrdinaryFile(FileNotRead):
    """A path leads to nothing, or to a directory, a pipe, or a device."""

    reason = "is not a regular file"


class NotASpec(FileNotRead):
    """A file that is named as a spec does not declare that it is one, so none of its content may be shown."""

    reason = "is not a spec"


class OtherName(FileNotRead):
    """A file whose name determines its content is a link to a different name, which may contain anything."""

    reason = "is a link to a file with a different name"


class Boundary:
    """The directory at ``root``, which has no links in it, and everything below it.

    The links of a path are followed once: the specs of a repository name the same files, and a command sees one state
    of the disk. A path that is opened has no links.
    """

    __slots__ = ("_modes", "_real_paths", "_ways", "root")

    def __init__(self, root: str) -> None:
        self.root = root
        self._real_paths = RealPaths()
        self._modes: dict[str, int] = {}
        self._ways: dict[str, tuple[str, ...] | None] = {}

    def contains(self, path: str) -> bool:
        """Return whether a path, links followed, is inside; it need not exist."""
        return self._steps(path) is not None

    def is_of_git(self, path: str) -> bool:
        """Return whether a path leads to one of git's own files inside."""
        steps = self._way(path)
        return steps is not None and _is_of_git(steps)

    def is_file(self, path: str) -> bool:
        """Return whether a path leads to a regular file inside. Raise OSError if that is unknown."""
        return self._has_mode(path, stat.S_ISREG)

    def is_directory(self, path: str) -> bool:
        """Return whether a path leads to a directory inside. Raise OSError if that is unknown."""
        return self._has_mode(path, stat.S_ISDIR)

    def read(self, path: str, most: int) -> bytes:
        """Return the content of a regular file, but no more than one byte above ``most``.

        Raise `OutOfBounds`, `NotAnOrdinaryFile`, and OSError if the disk fails.
        """
        with open(self.open(path), "rb", buffering=0) as file:
            return read_bounded(file, most)

    def read_named(self, path: str, most: int) -> bytes:
        """Read as `read` does a file whose name matters. Raise `OtherName` for a link to a different name."""
        if self.is_file(path) and os.path.basename(os.path.realpath(path)) != os.path.basename(path):
            raise OtherName(path)
        return self.read(path, most)

    def open(self, path: str) -> int:
        """Open a regular file for reading. Raise as `read` does.

        Links are resolved before the check, and the path that is opened has none.
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
        """Yield a directory and its parents, as far as they are inside."""
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
            if path not in self._modes:
                self._modes[path] = os.stat(path).st_mode
            return is_wanted(self._modes[path])
        except (OSError, ValueError) as fault:
            if is_missing(fault):
                return False
            raise

    def _steps(self, path: str) -> tuple[str, ...] | None:
        """Return the names that lead from the root to the target of a path; None for what must not be read."""
        steps = self._way(path)
        return None if steps is None or _is_of_git(steps) else steps

    def _way(self, path: str) -> tuple[str, ...] | None:
        if path not in self._ways:
            self._ways[path] = self._followed(path)
        return self._ways[path]

    def _followed(self, path: str) -> tuple[str, ...] | None:
        try:
            real = self._real_paths.of(path)
        except ValueError:
            real = os.path.abspath(path)  # no file can have this name: whatever uses it finds none
        except OSError:
            return None  # a link was replaced while it was followed
        has_links = real != os.path.abspath(path)
        if not is_below(real, self.root) or (has_links and has_detour(path, self.root)):
            return None
        if real.startswith(_OF_THE_KERNEL) and any(
            is_below(real, place) and not is_below(self.root, place) for place in _OF_THE_KERNEL
        ):
            return None
        return tuple(step for step in real[len(self.root) :].split(os.sep) if step)


def _is_of_git(steps: tuple[str, ...]) -> bool:
    return any(step.lower() == _GIT for step in steps)  # on some systems `.GIT` is the same
