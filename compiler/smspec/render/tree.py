"""What rendering returns, as values: the text of a target, and the files that a build writes.

By two of these smspec knows directories that it wrote: ``manifest.json`` has the content of a build directory and its
inputs, and ``run.json`` marks a directory that a local run wrote, which is never part of a source or a build.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Union

from smspec.source import ListedFile, Path, dotted
from smspec.source.frozen import dataclass
from smspec.source.real_file import open_below
from smspec_runtime.run_plan import CODE_CHANNEL

Members = frozenset[tuple[str, ...]]
"""Paths of members, without the indexes of items; one includes everything below it."""

UPLOAD = "upload/"
"""Files below this directory must be in S3 before the job starts."""

SOURCE = "source/"
SOURCES = (SOURCE, f"{UPLOAD}{CODE_CHANNEL}/")
"""The directories of the author's source in a tree: for the image, and for a channel."""

MANIFEST = "manifest.json"
UNFINISHED = ".smspec-tmp-"
"""The prefix of a directory's name while a tree is being written there."""

RUN_MARKER = "run.json"
_LARGEST = 4096
_KIND = "smspec run"
_IDENTITY = r"[0-9a-f]{32}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedFile:
    """A file that smspec generates. ``path`` is relative to the tree, with ``/``."""

    path: str
    content: bytes
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedFile:
    """A file that is copied from this machine unchanged; its digest was computed when it was listed."""

    path: str
    file: ListedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveFile:
    """A .tar.gz of local files, packed when the tree is written; their paths are those in the archive."""

    path: str
    members: tuple[CopiedFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFile:
    """The list of all other files, finished when the tree is written and every digest is known.

    ``compiled`` and ``runtime`` are digests; ``uploads`` maps files of the tree to their S3 URIs.
    """

    path: str
    version: str
    compiled: str
    runtime: str | None
    uploads: tuple[tuple[str, str], ...]


TreeFile = Union[GeneratedFile, CopiedFile, ArchiveFile, ManifestFile]


@dataclass(frozen=True, slots=True)
class FileTree:
    """Files sorted by path as UTF-8 bytes, with unique paths."""

    files: tuple[TreeFile, ...]

    @property
    def uploads(self) -> dict[str, str]:
        """The files that must be in S3 before the job starts, path → URI."""
        return {path: uri for file in self.files if isinstance(file, ManifestFile) for path, uri in file.uploads}


def manifest_json(manifest: ManifestFile, digests: Mapping[str, str]) -> bytes:
    """Return the text of a manifest; ``digests`` has the SHA-256 of every other file of the tree, by path."""
    content = {
        "smspec": manifest.version,
        "compiled": manifest.compiled,
        "runtime": manifest.runtime,
        "files": {path: digests[path] for path in sorted(digests, key=str.encode)},
        "uploads": dict(manifest.uploads),
    }
    return (json.dumps(content, indent=2) + "\n").encode()


def manifested_files(content: bytes) -> frozenset[str] | None:
    """Return the paths that a manifest lists, including its own; None if smspec did not write it."""
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(manifest, dict) or not {"smspec", "files"} <= manifest.keys():
        return None
    files = manifest["files"]
    return frozenset((*files, MANIFEST)) if isinstance(files, dict) else None


def run_marker_json(job: str, status: str, identity: str) -> bytes:
    """Return the content of the marker of a run. ``identity`` is that of its directory, which the next run keeps."""
    members = {"kind": _KIND, "job": job, "status": status, "identity": identity}
    return (json.dumps(members) + "\n").encode("ascii")


def marker_in(directory: str) -> bytes:
    """Return the content of the marker of a directory; empty if it has none.

    A script of the run may have replaced it by a FIFO, a device, or a link to one: reading would never end.
    """
    try:
        with open(open_below(directory, (RUN_MARKER,)), "rb") as file:
            return file.read(_LARGEST)
    except OSError:
        return b""


def is_run_marker(content: bytes) -> bool:
    """Return whether a file of that name is the marker of a run."""
    return _marker(content).get("kind") == _KIND


def identity_in(content: bytes) -> str:
    """Return the identity that a marker has; empty if it has none."""
    found = _marker(content).get("identity")
    return found if isinstance(found, str) and re.fullmatch(_IDENTITY, found) else ""


def is_unfinished(content: bytes, job: str) -> bool:
    """Return whether it marks an incomplete run of this job."""
    marker = _marker(content)
    return marker.get("job") == job and marker.get("status") != "Completed"


def _marker(content: bytes) -> dict[str, object]:
    try:
        marker = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return marker if isinstance(marker, dict) else {}


class NothingToRender(Exception):
    """The job has no such file; the text explains why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """``notes`` are sentences for the reader, such as limits of the text; they are not part of the text."""

    text: str
    notes: tuple[str, ...] = ()


def without_place(payload: dict[str, object], unknown: Members) -> list[str]:
    """Return the paths of the members of ``payload`` that are ``unknown`` to a tool."""
    return [dotted(path) for path in _unsupported((), (), payload, unknown)]


def _unsupported(path: Path, names: tuple[str, ...], value: object, unknown: Members) -> Iterator[Path]:
    if names in unknown:
        yield path
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _unsupported((*path, name), (*names, name), inner, unknown)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _unsupported((*path, index), names, inner, unknown)
