"""Check a downloaded object against the checksum that S3 keeps of it."""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from smspec.collection.faults import ResultRefused
from smspec.source.frozen import dataclass

_HASHES = {"ChecksumSHA256": "sha256", "ChecksumSHA1": "sha1"}
_MD5 = re.compile(r"[0-9a-f]{32}")
_PLAIN = ("", "AES256")
"""Encryption of S3's own: the ETag of an object in one part is its MD5 then, and with a KMS key it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checksum:
    """``algorithm`` is md5, sha1, sha256, or crc32; ``value`` in hexadecimal."""

    algorithm: str
    value: str


def checksum_of(head: Mapping[str, Any]) -> Checksum | None:
    """Return the checksum of a whole object in a response of HeadObject; None if it has none that smspec can compute.

    A checksum of checksums, of an object that was uploaded in parts, ends in a hyphen and their number. See "Checking
    object integrity" in the S3 user guide.
    """
    if head.get("ChecksumType", "FULL_OBJECT") == "FULL_OBJECT":
        for member, algorithm in (*_HASHES.items(), ("ChecksumCRC32", "crc32")):
            value = head.get(member)
            if isinstance(value, str) and "-" not in value:
                return Checksum(algorithm=algorithm, value=_hexadecimal(value))
    tag = str(head.get("ETag", "")).strip('"')
    is_plain = head.get("ServerSideEncryption", "") in _PLAIN and "SSECustomerAlgorithm" not in head
    return Checksum(algorithm="md5", value=tag) if is_plain and _MD5.fullmatch(tag) else None


def checked(uri: str, blocks: Iterator[bytes], expected: Checksum) -> Iterator[bytes]:
    """Yield blocks, and after the last one raise `ResultRefused` if they do not have the checksum."""
    found: _Digest = _Crc32() if expected.algorithm == "crc32" else _digest(expected.algorithm)
    for block in blocks:
        found.update(block)
        yield block
    if found.hexdigest() != expected.value:
        raise ResultRefused(f"`{uri}` does not have the {expected.algorithm.upper()} that S3 keeps of it; try again")


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


class _Crc32:
    def __init__(self) -> None:
        self._value = 0

    def update(self, data: bytes, /) -> None:
        self._value = zlib.crc32(data, self._value)

    def hexdigest(self) -> str:
        return f"{self._value:08x}"


def _digest(algorithm: str) -> _Digest:
    return hashlib.new(algorithm, usedforsecurity=False)


def _hexadecimal(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).hex()
    except ValueError:
        return value  # what is no Base64 equals no checksum
