"""Compare a directory with what a build would write now."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import Literal

from smspec.diagnostics.quoting import system_reason
from smspec.output.contents import expected_digest, in_order_of_making, is_executable
from smspec.output.existing_output import is_regular_file, paths, with_directories
from smspec.output.failures import OutputFailed
from smspec.render.tree import FileTree
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """One path that a build would add, change, or remove."""

    path: str
    kind: Literal["missing", "changed", "unlisted"]

    def __str__(self) -> str:
        return f"{self.path}: {self.kind}"


def differences(tree: FileTree, directory: str) -> list[Difference]:
    """Return how a directory differs from a tree, sorted by path, without writing anything. Raise `OutputFailed`."""
    try:
        return sorted(_differences(tree, directory), key=lambda difference: difference.path.encode(errors="replace"))
    except OSError as fault:
        raise OutputFailed(f"cannot read `{fault.filename or directory}`: {system_reason(fault)}") from fault


def _differences(tree: FileTree, directory: str) -> list[Difference]:
    found: list[Difference] = []
    digests: dict[str, str] = {}
    for file in in_order_of_making(tree.files):
        digests[file.path] = expected_digest(file, digests)
        path = os.path.join(directory, *file.path.split("/"))
        if not os.path.lexists(path):
            found.append(Difference(file.path, "missing"))
        elif not is_regular_file(path) or _state(path) != (digests[file.path], is_executable(file)):
            found.append(Difference(file.path, "changed"))
    if os.path.isdir(directory):
        known = with_directories(digests)
        found += [Difference(path, "unlisted") for path in paths(directory) if path not in known]
    return found


def _state(path: str) -> tuple[str, bool]:
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        executable = bool(os.fstat(file.fileno()).st_mode & stat.S_IXUSR)
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest(), executable
