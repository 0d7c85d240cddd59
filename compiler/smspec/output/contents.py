"""The bytes of each file of a tree, and the digests in the manifest."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping

from smspec.diagnostics.external_messages import reason
from smspec.output.archive import TAR_END, stored_gzip, tar_end_of, tar_header
from smspec.output.failures import OutputFailed
from smspec.render.tree import ArchiveFile, CopiedFile, GeneratedFile, ManifestFile, TreeFile, manifest_json
from smspec.source.listing import ListedFile

_CHUNK = 1 << 20


def chunks(file: TreeFile, digests: Mapping[str, str]) -> Iterator[bytes]:
    """Yield the content of a file. ``digests``: of every other file, by path; a manifest needs them.

    Raise `OutputFailed` after the last chunk of a copied file that has changed since it was listed.
    """
    if isinstance(file, GeneratedFile):
        yield file.content
    elif isinstance(file, CopiedFile):
        yield from _verified(file.file)
    elif isinstance(file, ArchiveFile):
        yield from stored_gzip(_tar(file))
    elif isinstance(file, ManifestFile):
        yield manifest_json(file, digests)


def is_executable(file: TreeFile) -> bool:
    """Return whether a file of a tree gets its executable bits."""
    if isinstance(file, CopiedFile):
        return file.file.executable
    return isinstance(file, GeneratedFile) and file.executable


def expected_digest(file: TreeFile, digests: Mapping[str, str]) -> str:
    """Return the SHA-256 that a file of a tree will have; a copied file is not read again for it."""
    if isinstance(file, CopiedFile):
        return file.file.sha256
    digest = hashlib.sha256()
    for chunk in chunks(file, digests):
        digest.update(chunk)
    return digest.hexdigest()


def in_order_of_making(files: tuple[TreeFile, ...]) -> list[TreeFile]:
    """Return the files with the manifest last: it lists all others."""
    return sorted(files, key=lambda file: isinstance(file, ManifestFile))


def _tar(archive: ArchiveFile) -> Iterator[bytes]:
    for member in archive.members:
        yield tar_header(member.path, member.file.size, executable=member.file.executable)
        yield from _verified(member.file)
        yield tar_end_of(member.file.size)
    yield TAR_END


def _opened_file(path: str, flags: int) -> int:
    """Open a file without waiting: a FIFO may have taken its place since it was listed, and has no writer."""
    opened = os.open(path, flags | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OutputFailed(f"`{path}` is not a file anymore; run the command again")
    return opened


def _verified(listed: ListedFile) -> Iterator[bytes]:
    digest = hashlib.sha256()
    try:
        with open(listed.origin, "rb", buffering=0, opener=_opened_file) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                yield chunk
    except OSError as fault:
        raise OutputFailed(f"cannot read `{listed.origin}`: {reason(fault)}") from fault
    if digest.hexdigest() != listed.sha256:
        raise OutputFailed(f"`{listed.origin}` changed while smspec was reading it; run the command again")
