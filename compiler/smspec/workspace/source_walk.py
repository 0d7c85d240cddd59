"""One walk through a source directory: which files are sent, which are excluded, and which are faults."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from typing import Literal

from smspec.render.tree import MANIFEST, RUN_MARKER, is_run_marker, manifested_files
from smspec.source.frozen import dataclass
from smspec.source.real_file import is_below, open_real, open_real_directory
from smspec.workspace.ignore_rules import IGNORE_FILES, IgnoreRules, TooManyPatterns
from smspec.workspace.spec_reading import is_spec_file

MOST_ENTRIES = 20_000
"""The same limit as in the runtime. More files are data, an environment, or a disk."""

MOST_DIRECTORY_LINKS = 2_000
"""Links can multiply files, and each step through them costs more than an ordinary directory."""

MOST_LEVELS = 100
"""Deeper nesting comes from a loop. Every level requires a look at all ignore files above it."""

_LARGEST_MANIFEST = 64 << 20
MARKERS = frozenset({MANIFEST, RUN_MARKER})
"""The files that mark a directory as output of smspec."""

FaultKind = Literal["outside", "nowhere", "around", "ignored", "name", "unreadable", "unbounded", "special"]


@dataclass(frozen=True, slots=True)
class SourceFault:
    """Why ``path`` cannot be sent. ``detail``: the target of a link, or the message of the system."""

    kind: FaultKind
    path: str
    detail: str


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file that is sent as ``path``; ``origin`` has no links in it."""

    path: str
    origin: str
    size: int


class WalkEnded(Exception):
    """The walk was ended."""


class SourceWalk:
    """Collects ``faults`` and, by group, what was ``left_out`` while `files` is iterated.

    ``root`` has no links in it.
    """

    def __init__(self, root: str, rules: IgnoreRules, excluded: frozenset[str]) -> None:
        self.faults: list[SourceFault] = []
        self.left_out: list[tuple[str, str]] = []
        self._root = root
        self._rules = rules
        self._excluded = excluded
        self._seen = 0
        self._directory_links = 0
        self._faulty_links: set[str] = set()

    def files(self, prefix: str = "", trail: tuple[str, ...] = ()) -> Iterator[FoundFile]:
        """Yield each file that is sent; ``trail``: the real directories on the way. Raise `WalkEnded`."""
        trail = trail or (self._root,)
        if len(trail) > MOST_LEVELS:
            self._end(f"its directories are nested deeper than {MOST_LEVELS} levels")
        for name in self._names(prefix, trail[-1]):
            path, entry = prefix + name, os.path.join(trail[-1], name)
            try:
                yield from self._entry(path, entry, trail)
            except OSError as fault:
                is_ignore_file = os.path.basename(fault.filename or "") in IGNORE_FILES
                named = os.path.relpath(fault.filename, self._root) if is_ignore_file else path
                self._cannot("unreadable", named, why_unreadable(fault))
            except TooManyPatterns as fault:
                self._end(str(fault))

    def _names(self, prefix: str, directory: str) -> list[str]:
        names = []
        try:
            opened = open_real_directory(directory)
            try:
                with os.scandir(opened) as entries:
                    for entry in entries:
                        self._seen += 1
                        if self._seen > MOST_ENTRIES:
                            self._end(f"it has more than {MOST_ENTRIES:,} files and directories")
                        names.append(entry.name)
            finally:
                os.close(opened)
        except OSError as fault:
            self._cannot("unreadable", prefix.rstrip("/") or ".", why_unreadable(fault))
        return sorted(names)

    def _entry(self, path: str, entry: str, trail: tuple[str, ...]) -> Iterator[FoundFile]:
        """Yield the files of one entry of a directory that are sent."""
        is_link = os.path.islink(entry)
        origin = os.path.realpath(entry) if is_link else entry
        # The target outside of the repository is not read: it may be a file or a directory, so a directory pattern
        # matches it.
        leads_out = is_link and self._rules.leads_out(entry, origin)
        is_directory = leads_out or os.path.isdir(origin)
        if origin in self._excluded or self._rules.excludes(path, is_directory):
            return
        group = self._rules.default_group(path, None if leads_out else origin, is_directory)
        if group is not None:
            self.left_out.append((group, path + "/" * is_directory))
            return
        if is_link and not self._can_follow(path, entry, None if leads_out else origin, trail):
            return
        if not _is_utf_8(path):
            self._cannot("name", path, "")
            return
        found = os.lstat(origin)
        if stat.S_ISDIR(found.st_mode):
            self._directory_links += is_link
            if self._directory_links > MOST_DIRECTORY_LINKS:
                self._end(f"links lead to directories more than {MOST_DIRECTORY_LINKS:,} times")
            if not is_output_of_ours(origin):
                yield from self.files(f"{path}/", (*trail, origin))
        elif not stat.S_ISREG(found.st_mode):
            self._cannot("special", path, _what(found.st_mode))
        elif not _is_job_spec(origin):
            yield FoundFile(path, origin, found.st_size)

    def _can_follow(self, path: str, link: str, target: str | None, trail: tuple[str, ...]) -> bool:
        """Return whether a link leads to a part of the source that is sent; otherwise record one fault.

        ``target``: its target; None outside of the repository.
        """
        kind: FaultKind | None = None
        if target is None or not is_below(target, self._root):
            kind = "outside"
        elif not _is_there(link):
            kind = "nowhere"
        elif target in trail:
            kind = "around"
        elif self._rules.excludes_with_parents(os.path.relpath(target, self._root)):
            kind = "ignored"
        if kind is not None and link not in self._faulty_links:
            self._faulty_links.add(link)
            self._cannot(kind, path, os.readlink(link))
        return kind is None

    def _cannot(self, kind: FaultKind, path: str, detail: str) -> None:
        fault = SourceFault(kind, path, detail)
        if fault not in self.faults[-1:]:  # an ignore file is read for each entry below it
            self.faults.append(fault)

    def _end(self, why: str) -> None:
        self._cannot("unbounded", "", why)
        raise WalkEnded


def _is_there(link: str) -> bool:
    """Return whether the target of a link exists. Raise OSError if that is unknown."""
    try:
        os.stat(link)
    except OSError as fault:
        if fault.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG):
            raise
        return False
    return True


def why_unreadable(fault: OSError) -> str:
    """Return the message of the system, without the name of a file."""
    return fault.strerror or os.strerror(fault.errno or errno.EIO)


def _is_utf_8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _what(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a FIFO"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def _is_job_spec(origin: str) -> bool:
    if not origin.endswith((".yaml", ".yml")):
        return False
    with open(open_real(origin), "rb") as file:
        return is_spec_file(file)


def is_output_of_ours(directory: str) -> bool:
    """Return whether smspec wrote a directory: a build, a run, or a collected result is never part of the next build.

    A marker that is a link was not written by smspec, and may lead anywhere.
    """
    marks = ((MANIFEST, lambda content: manifested_files(content) is not None), (RUN_MARKER, is_run_marker))
    for name, is_ours in marks:
        try:
            with open(open_real(os.path.join(directory, name)), "rb") as file:
                content = file.read(_LARGEST_MANIFEST)
        except OSError:
            continue
        if is_ours(content):
            return True
    return False
