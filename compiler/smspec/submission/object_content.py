"""The content of an object in S3: its parts, and the checksums that S3 keeps of them."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Callable, Iterator
from typing import Protocol

from smspec.diagnostics.quoting import system_reason
from smspec.source.frozen import dataclass
from smspec.submission.aws_errors import JobRefused

_PART = 8 << 20
_MOST_PARTS = 10_000
"""Of an object (S3 user guide, "Amazon S3 multipart upload limits")."""


class Content(Protocol):
    """What an object is to contain; ``size`` in bytes."""

    @property
    def size(self) -> int: ...

    def parts(self) -> Iterator[bytes]:
        """Yield all bytes, each part but the last one as long as `part_length` says. Raise `JobRefused`."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryContent:
    """Bytes in memory."""

    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def parts(self) -> Iterator[bytes]:
        length = part_length(self.size)
        for start in range(0, self.size, length) or (0,):
            yield self.data[start : start + length]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """A file of this machine, whose size was ``size`` when it was listed."""

    path: str
    size: int

    def parts(self) -> Iterator[bytes]:
        length, left = part_length(self.size), self.size
        try:
            with open(self.path, "rb") as file:
                while True:
                    part = file.read(min(length, left))
                    is_short = len(part) < min(length, left)
                    left -= len(part)
                    if is_short or (not left and file.read(1)):
                        raise JobRefused(f"`{self.path}` has changed while it was read; submit the job again")
                    yield part
                    if not left:
                        return
        except OSError as fault:
            raise JobRefused(f"cannot read `{self.path}`: {system_reason(fault)}") from None


def part_length(size: int) -> int:
    """Return the bytes of a part, which the AWS CLI uses too: as few parts as possible, each 8 MiB or a multiple."""
    length = _PART
    while size > length * _MOST_PARTS:
        length *= 2
    return length


def sha256(data: bytes) -> str:
    """Return the checksum of a part as S3 writes it."""
    return base64.b64encode(hashlib.sha256(data).digest()).decode()


def has_sha256(content: Content, checksum: str) -> bool | None:
    """Return whether ``ChecksumSHA256`` is that of a content; None if it is that of other parts."""
    return _has(content, checksum, hashlib.sha256, lambda digest: base64.b64encode(digest).decode())


def has_md5(content: Content, etag: str) -> bool | None:
    """Return whether an ETag is made of the MD5 of a content; None if it is that of other parts."""
    return _has(content, etag, functools.partial(hashlib.md5, usedforsecurity=False), bytes.hex)


def _has(
    content: Content, kept: str, algorithm: Callable[..., hashlib._Hash], written: Callable[[bytes], str]
) -> bool | None:
    """Compare a checksum. Of an object in parts, it is that of the checksums of its parts, and their number."""
    value, dash, count = kept.partition("-")
    if dash and count != str(max(1, -(-content.size // part_length(content.size)))):
        return None
    if dash:
        return written(algorithm(b"".join(algorithm(part).digest() for part in content.parts())).digest()) == value
    whole = algorithm()
    for part in content.parts():
        whole.update(part)
    return written(whole.digest()) == value
