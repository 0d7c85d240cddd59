"""The layers of the generated files: the same bytes on every machine, whatever its clock, users, umask, and zlib."""

from __future__ import annotations

import hashlib
import os.path
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from smspec.output.archive import TAR_END, stored_gzip, tar_directory, tar_end_of, tar_header
from smspec.output.contents import chunks, is_executable
from smspec.registry.manifest import Blob
from smspec.render.image_files import JOB_FILES, RUNTIME_FILES, image_files
from smspec.render.image_settings import EPOCH
from smspec.render.tree import CopiedFile, FileTree, GeneratedFile

_Placed = list[tuple[str, "GeneratedFile | CopiedFile"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLayer:
    """A layer whose content is read twice: for its digest, and when it is sent. ``diff_id``: of the tar file in it.

    ``about``: what the history of the image says of it.
    """

    blob: Blob
    diff_id: str
    about: str
    chunks: Callable[[], Iterator[bytes]]


def file_layers(tree: FileTree) -> tuple[FileLayer, ...]:
    """Return the layers of a tree. Raise `OutputFailed`, also later: when a file has changed."""
    return tuple(
        _layer([*image_files(tree, origins)], f"smspec build: {' '.join(origins)}")
        for origins in (RUNTIME_FILES, JOB_FILES)
    )


def _layer(files: _Placed, about: str) -> FileLayer:
    files = sorted(files, key=lambda each: each[0].encode())
    plain, stored, size = hashlib.sha256(), hashlib.sha256(), 0

    def noted() -> Iterator[bytes]:
        for chunk in _tar(files):
            plain.update(chunk)
            yield chunk

    for chunk in stored_gzip(noted()):
        stored.update(chunk)
        size += len(chunk)
    return FileLayer(
        blob=Blob(f"sha256:{stored.hexdigest()}", size),
        diff_id=f"sha256:{plain.hexdigest()}",
        about=about,
        chunks=lambda: stored_gzip(_tar(files)),
    )


def _tar(files: _Placed) -> Iterator[bytes]:
    made: set[str] = set()
    for path, file in files:
        for directory in _parents(path):
            if directory not in made:
                made.add(directory)
                yield tar_directory(f"{directory}/", time=EPOCH)
        size = file.file.size if isinstance(file, CopiedFile) else len(file.content)
        yield tar_header(path.lstrip("/"), size, executable=is_executable(file), time=EPOCH)
        yield from chunks(file, {})
        yield tar_end_of(size)
    yield TAR_END


def _parents(path: str) -> list[str]:
    """Return the directories above a file, the highest first. Without them, engines choose their modes and times."""
    directory = os.path.dirname(path.lstrip("/"))
    found = []
    while directory:
        found.append(directory)
        directory = os.path.dirname(directory)
    return found[::-1]
