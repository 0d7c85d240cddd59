"""What a command may read because of a spec: regular files inside one directory, links followed.

Pull requests may come from strangers. A path in one may lead to the environment of a process, to a key in a home
directory, or to an endless pipe, so nothing outside the directory is opened, and neither are git's own files inside it:
a checkout keeps the token of its run in ``.git/config``. The finding for a path that is not read shows nothing of what
is there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator

from smspec.diagnostics import Diagnostic, Finding, InvalidInput, Rule, file_at_fault, placed_at
from smspec.source import DataExtent, Path, Span
from smspec.source.real_file import is_below, open_below, read_bounded
from smspec.spec.layers.short_forms import NO_VERSION
from smspec.workspace.path_targets import RealPaths, has_detour, is_missing, upwards

_GIT = ".git"
_OF_THE_KERNEL = ("/proc", "/sys", "/dev")
OUTSIDE = Rule("SM145", "file outside the repository")
LINK_OUT = Rule("SM146", "unread link out of the repository", "note")
_WAY_OUT = "move the file into the repository, or pass `--root DIR` with a directory that contains both"

MOST_ENTRIES = 1_000
"""Entries of directories to look at. More data takes longer to look at than a check may take, and stays unknown."""


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


def outside(at: Path, written: str, path: str, boundary: Boundary) -> Finding:
    """Return the finding for a ``path``, ``written`` so, that is not inside the repository.

    It does not show whether the file exists: that would reveal to a stranger what exists on a machine.
    """
    if boundary.is_of_git(path):
        return OUTSIDE.at(at, f"`{written}` belongs to git", help="name a file outside `.git`")
    is_link = boundary.contains(os.path.dirname(path)) and os.path.islink(path)
    where = "is a link out of the repository" if is_link else "is outside the repository"
    return OUTSIDE.at(at, f"`{written}` {where}", help=_WAY_OUT)


def not_a_spec(at: Path, written: str) -> Finding:
    """Return the finding for a base spec without ``smspec: v1``; it shows nothing of its content."""
    return NO_VERSION.at(
        at,
        f"`{written}` is not a base spec: it does not set `smspec: v1`",
        help="add `smspec: v1` to the file, or remove it from `extends`",
    )


def rejected_outside(path: str) -> InvalidInput:
    """Return the error for a spec that is a link out of the repository."""
    name = os.path.basename(path)
    help = "replace the link with the file, or pass `--root DIR` with a directory that contains both"
    return file_at_fault(path, OUTSIDE.at((), f"`{name}` is a link out of the repository", help=help))


def rejected_stranger(path: str) -> InvalidInput:
    """Return the error for a spec that is a link to a file which is not a spec."""
    name = os.path.basename(path)
    help = "replace the link with a file that sets `smspec: v1`"
    return file_at_fault(path, NO_VERSION.at((), f"`{name}` is a link to a file that is not a spec", help=help))


def unread_link(path: str) -> Diagnostic:
    """Return the diagnostic for a YAML file in a searched directory that is a link out of the repository."""
    name = os.path.basename(path)
    help = "replace the link with the file, if it is a spec"
    finding = LINK_OUT.at((), f"`{name}` is not checked: it is a link out of the repository", help=help)
    return placed_at(Span(path, 1, 1, 1, 1), finding)


def data_extent(path: str, boundary: Boundary) -> DataExtent | None:
    """Return how much is at a path; None if that is unknown.

    Nothing outside of the boundary is looked at. A link may lead anywhere, and what is below a directory that cannot be
    listed is unknown, so with either the whole extent is.
    """
    try:
        if not boundary.contains(path):
            return None
        if boundary.is_file(path):
            return DataExtent(files=1, bytes=os.stat(path).st_size)
        if boundary.is_directory(path):
            return _below(path)
        return DataExtent(files=0, bytes=0, is_absent=True) if _is_absent(path) else None
    except (OSError, ValueError):
        return None


def _is_absent(path: str) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    return False


def _below(directory: str) -> DataExtent | None:
    files = size = seen = 0
    waiting = [directory]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                seen += 1
                if seen > MOST_ENTRIES or entry.is_symlink():
                    return None
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    files += 1
                    size += entry.stat(follow_symlinks=False).st_size
                else:
                    return None
    return DataExtent(files=files, bytes=size)
