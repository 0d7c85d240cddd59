"""The files that a build writes, as values."""

from __future__ import annotations

from typing import Union

from smspec.source.frozen import dataclass
from smspec.source.listing import ListedFile
from smspec_runtime.run_plan import CODE_CHANNEL

UPLOAD = "upload/"
"""Files below this directory must be in S3 before the job starts."""

SOURCE = "source/"
SOURCES = (SOURCE, f"{UPLOAD}{CODE_CHANNEL}/")
"""The directories of the author's source in a tree: for the image, and for a channel."""


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
