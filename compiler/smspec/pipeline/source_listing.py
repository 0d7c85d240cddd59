"""The files of the author's source directory that travel, with their digests."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence

from smspec.pipeline.absence import is_file
from smspec.pipeline.ignore_rules import IgnoreRules
from smspec.pipeline.spec_marker import has_spec_key
from smspec.render.manifest import MANIFEST, manifested_files
from smspec.render.run_marker import RUN_MARKER, is_run_marker
from smspec.source.listing import ListedFile, Listing
from smspec.spec.yaml.guard import MAX_BYTES

MOST_FILES = 100_000
"""More than this is data or an environment that got into the source directory; links can also multiply files."""

MOST_LEVELS = 100
"""What is nested deeper was made by a loop. Every level costs a look at all ignore files above it."""

_LARGEST_MANIFEST = 64 << 20


def list_source(directory: str, ignore: Sequence[str] = (), exclude: Sequence[str] = ()) -> Listing:
    """Return the regular files below ``directory`` that travel, sorted by path as UTF-8 bytes.

    ``ignore``: patterns as in .gitignore. ``exclude``: files and directories that stay behind, by their paths here.
    A link to something in the directory travels as what it leads to; one that leaves it, or leads to something that
    stays behind, does not travel. Raises OSError, with the file's name, when something cannot be read.
    """
    root = os.path.realpath(directory)
    walk = _Walk(root, IgnoreRules(root, ignore), frozenset(map(os.path.realpath, exclude)))
    files: list[ListedFile] = []
    for path, origin in walk.files("", (root,)):
        if len(files) == MOST_FILES:
            raise OSError(errno.E2BIG, f"it holds more than {MOST_FILES:,} files", directory)
        files.append(listed_file(path, origin))
    return Listing(files=tuple(sorted(files, key=lambda file: file.path.encode())))


def listed_file(path: str, origin: str) -> ListedFile:
    """Return a file under the name ``path`` with what it holds now."""
    digest = hashlib.sha256()
    size = 0
    with open(origin, "rb", buffering=0) as file:
        executable = bool(os.fstat(file.fileno()).st_mode & stat.S_IXUSR)
        while chunk := file.read(1 << 20):
            digest.update(chunk)
            size += len(chunk)
    return ListedFile(path=path, origin=origin, executable=executable, size=size, sha256=digest.hexdigest())


class _Walk:
    """One walk through a source directory. ``root`` has no links in it."""

    def __init__(self, root: str, rules: IgnoreRules, excluded: frozenset[str]) -> None:
        self._root = root
        self._rules = rules
        self._excluded = excluded

    def files(self, prefix: str, trail: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """Yield (path, origin) of each file that travels; ``trail``: the real directories that lead here."""
        if len(trail) > MOST_LEVELS:
            raise OSError(
                errno.ENAMETOOLONG, f"its directories are nested deeper than {MOST_LEVELS} levels", self._root
            )
        with os.scandir(trail[-1]) as entries:
            names = sorted(entry.name for entry in entries)
        for name in names:
            path, origin = prefix + name, os.path.join(trail[-1], name)
            if os.path.islink(origin):
                origin = os.path.realpath(origin)
                if not self._travels_through_link(origin, trail):
                    continue
            mode = os.lstat(origin).st_mode
            is_directory = stat.S_ISDIR(mode)
            if origin in self._excluded or self._rules.excludes(path, is_directory):
                continue
            if is_directory:
                if not _is_output_of_ours(origin):
                    yield from self.files(f"{path}/", (*trail, origin))
            elif stat.S_ISREG(mode) and not _is_job_spec(origin):
                _check_name(path, origin)
                yield path, origin

    def _travels_through_link(self, target: str, trail: tuple[str, ...]) -> bool:
        inside = target.startswith(os.path.join(self._root, ""))
        if not inside or target in trail or not os.path.exists(target):
            return False
        return not self._rules.excludes_with_parents(os.path.relpath(target, self._root).replace(os.sep, "/"))


def _check_name(path: str, origin: str) -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        raise OSError(errno.EILSEQ, "its name is not UTF-8, so it cannot travel", origin) from None


def _is_job_spec(origin: str) -> bool:
    if not origin.endswith((".yaml", ".yml")):
        return False
    with open(origin, "rb") as file:
        content = file.read(MAX_BYTES + 1)
    return len(content) <= MAX_BYTES and has_spec_key(content)


def _is_output_of_ours(directory: str) -> bool:
    """Tell whether smspec wrote a directory: what comes out of a build or a run never goes into the next one."""
    marks = ((MANIFEST, lambda content: manifested_files(content) is not None), (RUN_MARKER, is_run_marker))
    for name, is_ours in marks:
        path = os.path.join(directory, name)
        try:
            if not is_file(path):
                continue
            with open(path, "rb") as file:
                content = file.read(_LARGEST_MANIFEST)
        except OSError:
            continue
        if is_ours(content):
            return True
    return False
