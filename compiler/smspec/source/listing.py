"""The files of a source directory that are sent, with their digests, and how much data a directory contains."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """``path`` is relative to the listed directory, with ``/``; ``origin`` is its path on this machine."""

    path: str
    origin: str
    executable: bool
    size: int
    sha256: str


class Listing:
    """Regular files, sorted by path as UTF-8 bytes. ``unsaved``: path → content that is not on disk yet."""

    __slots__ = ("_digest", "files", "unsaved")

    def __init__(self, *, files: tuple[ListedFile, ...] = (), unsaved: Mapping[str, bytes] | None = None) -> None:
        self.files = files
        self.unsaved = unsaved or {}
        self._digest = ""

    def __eq__(self, other: object) -> bool:
        return self.files == other.files if isinstance(other, Listing) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.files)

    def __repr__(self) -> str:
        return f"Listing(files={self.files!r})"

    @property
    def digest(self) -> str:
        """The SHA-256 of every path, executable bit, and content. Computed once: jobs share it."""
        if not self._digest:
            content = hashlib.sha256()
            for file in self.files:
                content.update(f"{file.path}\0{'x' if file.executable else '-'}\0{file.sha256}\n".encode())
            self._digest = content.hexdigest()
        return self._digest

    def has(self, path: str) -> bool:
        return any(file.path == path for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataExtent:
    """The number of files below a path, and their size in bytes."""

    files: int
    bytes: int
