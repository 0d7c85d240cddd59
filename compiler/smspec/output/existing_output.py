"""The contents of an existing output directory: may smspec replace all of them, and how do they differ from a tree?"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from typing import Literal

from smspec.diagnostics.quoting import system_reason
from smspec.output.atomic_file import OutputFailed
from smspec.output.contents import expected_digest, in_order_of_making, is_executable
from smspec.render.tree import MANIFEST, FileTree, manifested_files
from smspec.source.frozen import dataclass
from smspec.source.real_file import sha256_of

_LARGEST_MANIFEST = 64 << 20


def stranger(directory: str) -> str | None:
    """Return one path in a directory that no smspec manifest lists, or None: it is empty, or smspec wrote all of it.

    Raise FileNotFoundError if there is no such directory.
    """
    present = sorted(os.listdir(directory))
    if not present:
        return None
    listed = _manifested(directory)
    if listed is None:
        return present[0]  # without a look below: it may be a home directory, or the whole disk
    known = with_directories(listed)
    return min((path for path in paths(directory) if path not in known), default=None)


def with_directories(files: Iterable[str]) -> frozenset[str]:
    """Return the paths of files and of all directories above them."""
    known = set(files)
    return frozenset(known | {path[:at] for path in known for at, character in enumerate(path) if character == "/"})


def paths(directory: str) -> Iterator[str]:
    """Yield, with ``/``, the path of every file and empty directory below a directory; links are not followed."""
    with os.scandir(directory) as entries:
        for entry in entries:
            below = list(paths(entry.path)) if entry.is_dir(follow_symlinks=False) else []
            yield from (f"{entry.name}/{path}" for path in below) if below else (entry.name,)


def is_regular_file(path: str) -> bool:
    """Return whether there is a regular file, not a symbolic link to one."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _manifested(directory: str) -> frozenset[str] | None:
    path = os.path.join(directory, MANIFEST)
    if not is_regular_file(path):
        return None
    with open(path, "rb") as file:
        return manifested_files(file.read(_LARGEST_MANIFEST))


@dataclass(frozen=True, slots=True)
class PathDifference:
    """One path that a build would add, change, or remove."""

    path: str
    kind: Literal["missing", "changed", "unlisted"]

    def __str__(self) -> str:
        return f"{self.path}: {self.kind}"


def differences(tree: FileTree, directory: str) -> list[PathDifference]:
    """Return how a directory differs from a tree, sorted by path, without writing anything. Raise `OutputFailed`."""
    try:
        return sorted(_differences(tree, directory), key=lambda difference: difference.path.encode(errors="replace"))
    except OSError as fault:
        raise OutputFailed(f"cannot read `{fault.filename or directory}`: {system_reason(fault)}") from fault


def _differences(tree: FileTree, directory: str) -> list[PathDifference]:
    found: list[PathDifference] = []
    digests: dict[str, str] = {}
    for file in in_order_of_making(tree.files):
        digests[file.path] = expected_digest(file, digests)
        path = os.path.join(directory, *file.path.split("/"))
        if not os.path.lexists(path):
            found.append(PathDifference(file.path, "missing"))
        elif not is_regular_file(path) or _state(path) != (digests[file.path], is_executable(file)):
            found.append(PathDifference(file.path, "changed"))
    if os.path.isdir(directory):
        known = with_directories(digests)
        found += [PathDifference(path, "unlisted") for path in paths(directory) if path not in known]
    return found


def _state(path: str) -> tuple[str, bool]:
    with open(path, "rb", buffering=0) as file:
        executable = bool(os.fstat(file.fileno()).st_mode & stat.S_IXUSR)
        return sha256_of(file), executable
