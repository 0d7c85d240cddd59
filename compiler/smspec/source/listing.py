"""The files of a source directory that are sent, with their digests."""

from __future__ import annotations

import hashlib

from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """``path`` is relative to the listed directory, with ``/``; ``origin`` is its path on this machine."""

    path: str
    origin: str
    executable: bool
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Regular files, sorted by path as UTF-8 bytes."""

    files: tuple[ListedFile, ...] = ()

    @property
    def digest(self) -> str:
        """The SHA-256 of every path, executable bit, and content; sizes follow from these."""
        content = hashlib.sha256()
        for file in self.files:
            content.update(f"{file.path}\0{'x' if file.executable else '-'}\0{file.sha256}\n".encode())
        return content.hexdigest()

    def has(self, path: str) -> bool:
        return any(file.path == path for file in self.files)
