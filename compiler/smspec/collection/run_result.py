"""The result of a local run."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator

from smspec.collection.result_tree import ARCHIVE, KINDS, ResultRefused, StoredFile, StoredResult
from smspec.local.running.run_directory import SUMMARY
from smspec.render.tree import is_run_marker, marker_in
from smspec.source.deep_directories import walked
from smspec.source.real_file import open_below

_BLOCK = 1 << 20
_LARGEST_SUMMARY = 256 << 20
_ENDED = ("Completed", "Failed", "Stopped")


def is_run_directory(path: str) -> bool:
    """Return whether a run wrote a directory."""
    return is_run_marker(marker_in(path))


def run_result(directory: str) -> StoredResult:
    """Return the result of a run. Raise `ResultRefused` if the run has not ended, OSError for unreadable files."""
    marker = json.loads(marker_in(directory))
    status = str(marker.get("status"))
    if status not in _ENDED:
        raise ResultRefused(f"the run in `{directory}` has not ended, or was killed: its status is {status}")
    return StoredResult(
        job=str(marker.get("job")),
        status=status,
        hosts=_hosts(directory),
        place=directory,
        files=tuple(_files(directory)),
    )


def _hosts(directory: str) -> int:
    try:
        with open(open_below(directory, (SUMMARY,)), "rb") as file:
            return len(json.loads(file.read(_LARGEST_SUMMARY))["hosts"])
    except (OSError, ValueError, LookupError, TypeError):
        return 0


def _files(directory: str) -> Iterator[StoredFile]:
    for kind in KINDS:
        archive, tree = os.path.join(directory, kind + ARCHIVE), os.path.join(directory, kind)
        if os.path.isfile(archive):
            yield _file(kind + ARCHIVE, archive)
        elif os.path.isdir(tree):
            for above, directories, names in walked(tree):
                directories.sort()
                for path in (os.path.join(above, name) for name in sorted(names)):
                    if os.path.isfile(path):
                        yield _file(os.path.relpath(path, directory), path)


def _file(name: str, path: str) -> StoredFile:
    return StoredFile(name=name, size=os.path.getsize(path), blocks=functools.partial(_blocks, path))


def _blocks(path: str) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            yield block
