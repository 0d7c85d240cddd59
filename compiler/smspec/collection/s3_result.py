"""What a job in SageMaker has in S3: its result, and its code, which the SDK keeps there as an archive.

Each object is checked against the checksum that S3 keeps of it.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Protocol

from smspec.collection.result_tree import (
    ARCHIVE,
    KINDS,
    MODEL,
    OUTPUT,
    ResultRefused,
    ResultTree,
    StoredFile,
    StoredResult,
)
from smspec.collection.tar_reader import GzipReader, unpack_archive
from smspec.local.feeder.objects import ChannelDataError, StoredObject, StoreUnavailable
from smspec.local.s3.fetching import CONNECTIONS, RANGE, Fetching
from smspec.source.frozen import dataclass
from smspec.submission.client import DENIED, ActionDenied, AwsUnavailable, asked, denied_action
from smspec.submission.s3_service import RegionalS3, object_arn, parts
from smspec.submission.training_job import TrainingJob
from smspec.wire.aws import AwsSession

_HASHES = {"ChecksumSHA256": "sha256", "ChecksumSHA1": "sha1"}
_MD5 = re.compile(r"[0-9a-f]{32}")
_PLAIN = ("", "AES256")
"""Encryption of S3's own: the ETag of an object in one part is its MD5 then, and with a KMS key it is not."""

_SLACK = 1 << 16
_DATA = "data/"
"""The developer guide names /opt/ml/output/data as what is uploaded, and not the prefix that it gets uncompressed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checksum:
    """``algorithm`` is md5, sha1, sha256, or crc32; ``value`` in hexadecimal."""

    algorithm: str
    value: str


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


def _digest(algorithm: str) -> _Digest:
    return hashlib.new(algorithm, usedforsecurity=False)


def _hexadecimal(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).hex()
    except ValueError:
        return value  # what is no Base64 equals no checksum


def s3_result(job: TrainingJob, store: RegionalS3, profile: str | None) -> StoredResult:
    """Return what a job has left in S3. Raise `JobRefused` for a missing bucket, or `AwsUnavailable`."""
    prefix = job.result_prefix
    if not prefix:
        raise ResultRefused(f"the job `{job.name}` writes no result to S3")
    _, key = parts(prefix)
    found: list[tuple[str, StoredObject]] = []
    for uri, listed in sorted(store.objects(prefix).items(), key=lambda entry: entry[0].encode()):
        _, path = parts(uri)
        if name := _name(path[len(key) :]):
            found.append((name, StoredObject(path, uri, listed.size)))
    downloads = _Downloads([stored for _, stored in found], store, profile, job.region or None)
    files = (
        StoredFile(name=name, size=stored.size or 0, blocks=functools.partial(downloads.blocks, index))
        for index, (name, stored) in enumerate(found)
    )
    return StoredResult(job=job.name, status=job.status, hosts=job.hosts, place=prefix, files=tuple(files))


def s3_fetching(profile: str | None, region: str | None) -> Fetching:
    """Return what downloads objects. Raise `AwsUnavailable` without credentials or region."""
    with asked("S3"):
        session = AwsSession(profile, region, largest=RANGE + _SLACK, connections=CONNECTIONS)
        return Fetching(session.s3_client())


def _name(key: str) -> str:
    """Return the name of an object below the prefix in the result; empty for one that does not belong to it."""
    directory, slash, rest = key.partition("/")
    if key in [kind + ARCHIVE for kind in KINDS]:
        return key
    if not rest or key.endswith("/"):  # the mark of a directory that a console made
        return ""
    if directory == MODEL:
        return key
    if directory + slash in (f"{OUTPUT}/", _DATA):
        return f"{OUTPUT}/{rest.removeprefix(_DATA) if directory == OUTPUT else rest}"
    return ""


class _Downloads:
    """The objects of a result. Their requests are sent ahead, in the order in which they are read.

    What is asked ahead is not asked again for minutes while S3 throttles: the process could not end before.
    """

    def __init__(
        self, objects: Sequence[StoredObject], store: RegionalS3, profile: str | None, region: str | None
    ) -> None:
        self._objects = objects
        self._store = store
        self._ahead = RegionalS3(profile, region, budget=0, connections=CONNECTIONS)
        self._fetching = s3_fetching(profile, region)
        self._coming, self._next = self._from(0), 0

    def blocks(self, index: int) -> Iterator[bytes]:
        """Yield the content of an object, compared with the checksum that S3 keeps. Raise `ResultRefused` for a fault.

        All of it is read before the next one.
        """
        if index != self._next:
            self._coming.close()
            self._coming = self._from(index)
        coming, self._next = self._coming, -1
        try:
            yield from next(coming)
            self._next = index + 1
        finally:
            if self._next != index + 1:  # a process waits for what it has requested
                coming.close()

    def _from(self, index: int) -> Generator[Iterator[bytes], None, None]:
        heads: deque[Future[dict[str, Any]]] = deque()

        def requested() -> Iterator[StoredObject]:
            for stored in self._objects[index:]:
                heads.append(self._fetching.submit(self._ahead.head, stored.path))
                yield stored

        try:
            for stored, blocks in self._fetching.contents(requested()):
                assert isinstance(stored, StoredObject) and blocks is not None
                yield _checked_blocks(stored, blocks, heads.popleft(), self._store)
        finally:
            for head in heads:
                head.cancel()


def _checked_blocks(
    stored: StoredObject, blocks: Iterator[bytes], head: Future[dict[str, Any]], store: RegionalS3
) -> Iterator[bytes]:
    content = _as_result(stored, blocks)
    try:
        try:
            found = head.result()
        except AwsUnavailable:
            found = store.head(stored.path)
        expected = checksum_of(found)
    except ActionDenied:
        expected = None  # S3 says why only in the response to a download
    yield from content if expected is None else checked(stored.path, content, expected)


def _as_result(stored: StoredObject, blocks: Iterator[bytes]) -> Iterator[bytes]:
    try:
        yield from blocks
    except ChannelDataError as fault:
        sentence = str(fault)
        if not isinstance(fault, StoreUnavailable):
            raise ResultRefused(sentence) from None
        if any(f": {code}:" in sentence for code in DENIED):
            raise (denied_action(sentence) or ActionDenied("s3:GetObject", object_arn(stored.path))) from None
        raise AwsUnavailable(sentence) from None


def unpack_code(
    uri: str, directory: str, tree: ResultTree, warn: Callable[[str], None], profile: str | None, region: str | None
) -> None:
    """Write the files of an archive in S3 to a directory of the tree; the caller finishes the tree.

    Raise `ResultRefused` for an archive that is damaged or unsafe, `JobRefused` for one that does not exist,
    `AwsUnavailable` if S3 cannot be called or denies it, OSError for a full disk.
    """
    store = RegionalS3(profile, region)
    size = int(store.head(uri).get("ContentLength", 0))
    _, key = parts(uri)
    downloads = _Downloads([StoredObject(key, uri, size)], store, profile, region)
    unpack_archive(GzipReader(uri, downloads.blocks(0)), directory, tree, warn)
