"""The files that a build writes, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from smspec.source.listing import ListedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedFile:
    """A file that we write the bytes of. ``path`` is relative to the tree, with ``/``."""

    path: str
    content: bytes
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedFile:
    """A file that is taken over from this machine unchanged; its digest was taken when it was listed."""

    path: str
    file: ListedFile


TreeFile = Union[GeneratedFile, CopiedFile]


@dataclass(frozen=True, slots=True)
class FileTree:
    """Files sorted by path as UTF-8 bytes, no two with one path."""

    files: tuple[TreeFile, ...]
