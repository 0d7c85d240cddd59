"""Layers of files: the same bytes on every machine, whatever its clock, users, umask, and zlib."""

from __future__ import annotations

import hashlib
import os.path
import posixpath
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from smspec.output.contents import TAR_END, chunks, is_executable, stored_gzip, tar_directory, tar_end_of, tar_header
from smspec.registry.manifest import Blob
from smspec.render.image_settings import EPOCH
from smspec.render.tree import SOURCE, CopiedFile, FileTree, GeneratedFile

Status = tuple[int, int, int, int]
"""Mode, user, group, and time of a directory."""

_NEW: Status = (0o755, 0, 0, EPOCH)

_RUNTIME_FILES = ("smspec_runtime/",)
"""What all jobs share. It is a layer of its own, as in the Dockerfile."""

_JOB_FILES = ("entrypoint.py", "run_plan.json", SOURCE)

_PATHS = {
    "smspec_runtime/": "/opt/smspec/smspec_runtime/",
    "entrypoint.py": "/opt/smspec/entrypoint.py",
    "run_plan.json": "/opt/smspec/run_plan.json",
    SOURCE: "/opt/ml/code/",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerFile:
    """A file in a layer. ``path`` is absolute. ``chunks``: its content, from its start."""

    path: str
    size: int
    is_executable: bool
    chunks: Callable[[], Iterator[bytes]]

    @staticmethod
    def of(path: str, content: bytes) -> LayerFile:
        """Return a file with a content that is known."""
        return LayerFile(path=path, size=len(content), is_executable=False, chunks=lambda: iter((content,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLayer:
    """A layer whose content is read twice: for its digest, and when it is sent. ``diff_id``: of the tar file in it.

    ``about``: what the history of the image says of it.
    """

    blob: Blob
    diff_id: str
    about: str
    chunks: Callable[[], Iterator[bytes]]


def whiteout(path: str) -> LayerFile:
    """Return the file of a layer that removes what is at a path in the layers below."""
    directory, name = posixpath.split(path)
    return LayerFile.of(f"{directory}/.wh.{name}", b"")


def file_layers(tree: FileTree) -> tuple[FileLayer, ...]:
    """Return the layers of a tree. Raise `OutputFailed`, also later: when a file has changed."""
    return tuple(
        file_layer([_of_tree(path, file) for path, file in _image_files(tree, origins)], " ".join(origins))
        for origins in (_RUNTIME_FILES, _JOB_FILES)
    )


def file_layer(
    files: Iterable[LayerFile], about: str, status: Callable[[str], Status | None] = lambda _: None
) -> FileLayer:
    """Return a layer with files. ``status``: of a directory that the base has. Raises what reading a file raises."""
    files = sorted(files, key=lambda each: each.path.encode())
    plain, stored, size = hashlib.sha256(), hashlib.sha256(), 0

    def noted() -> Iterator[bytes]:
        for chunk in _tar(files, status):
            plain.update(chunk)
            yield chunk

    for chunk in stored_gzip(noted()):
        stored.update(chunk)
        size += len(chunk)
    return FileLayer(
        blob=Blob(f"sha256:{stored.hexdigest()}", size),
        diff_id=f"sha256:{plain.hexdigest()}",
        about=f"smspec build: {about}",
        chunks=lambda: stored_gzip(_tar(files, status)),
    )


def _of_tree(path: str, file: GeneratedFile | CopiedFile) -> LayerFile:
    size = file.file.size if isinstance(file, CopiedFile) else len(file.content)
    return LayerFile(path=path, size=size, is_executable=is_executable(file), chunks=lambda: chunks(file, {}))


def _tar(files: list[LayerFile], status: Callable[[str], Status | None]) -> Iterator[bytes]:
    made: set[str] = set()
    for file in files:
        for directory in _parents(file.path):
            if directory not in made:
                made.add(directory)
                mode, user, group, time = status(f"/{directory}") or _NEW
                yield tar_directory(f"{directory}/", time=time, mode=mode, user=user, group=group)
        yield tar_header(file.path.lstrip("/"), file.size, executable=file.is_executable, time=EPOCH)
        yield from file.chunks()
        yield tar_end_of(file.size)
    yield TAR_END


def _parents(path: str) -> list[str]:
    """Return the directories above a file, the highest first. Without them, engines choose their modes and times."""
    directory = os.path.dirname(path.lstrip("/"))
    found = []
    while directory:
        found.append(directory)
        directory = os.path.dirname(directory)
    return found[::-1]


def _image_files(tree: FileTree, origins: tuple[str, ...]) -> Iterator[tuple[str, GeneratedFile | CopiedFile]]:
    """Yield path in the image, file, for each file of a tree that is one of ``origins`` or below it."""
    for file in tree.files:
        origin = next((each for each in origins if file.path == each or file.path.startswith(_directory(each))), None)
        if origin is not None and isinstance(file, (GeneratedFile, CopiedFile)):
            yield _PATHS[origin] + file.path.removeprefix(origin), file


def _directory(origin: str) -> str:
    return origin if origin.endswith("/") else f"{origin}/"
