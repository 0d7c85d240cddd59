"""Upload what a job reads from S3: the files of its spec, and the local data of its channels.

The names of files contain the digest of their content, so each is uploaded once. No object of a channel that is there
already is written again, and a different one is an error: a result that was made with it would no longer match the
request that names it. boto3's transfer manager does not support ``IfNoneMatch``, so parts are sent here.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from smspec.source.frozen import dataclass
from smspec.submission.client import JobRefused
from smspec.submission.s3_service import FileContent, ListedObject, MemoryContent, RegionalS3, has_md5, has_sha256

_UPLOADS_AT_ONCE = 4
_GRACE_SECONDS = 10.0
Advance = Callable[[int], None]
"""Gets the bytes that have been read or uploaded since the last call; called from several threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUpload:
    """A file that belongs at ``uri``; ``content`` reads it. ``kms_key`` None: the encryption of the bucket."""

    uri: str
    content: Callable[[], bytes]
    kms_key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadState:
    """The files that belong below a prefix. ``missing``: those that S3 does not have.

    ``differing``: the URIs of those that have another content there. ``others``: objects that do not belong there.
    """

    prefix: str
    files: tuple[FileUpload, ...]
    missing: tuple[FileUpload, ...]
    differing: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def deliveries(service: RegionalS3, prefixes: Iterable[str], uploads: Iterable[FileUpload]) -> Iterator[UploadState]:
    """Yield the uploads below each prefix, which is listed once, and how it differs from them.

    A name proves nothing: any user who may write to the bucket can have put other code there.
    """
    uploads = tuple(uploads)
    for prefix in sorted(set(prefixes)):
        files = {upload.uri: upload for upload in uploads if upload.uri.startswith(prefix)}
        there = service.objects(prefix)
        folder = [prefix] if prefix in there and not there[prefix].size else []
        yield UploadState(
            prefix=prefix,
            files=tuple(files.values()),
            missing=tuple(file for uri, file in files.items() if uri not in there),
            differing=tuple(
                uri for uri, file in files.items() if uri in there and not is_stored(service, file, there[uri].size)
            ),
            others=tuple(sorted(there.keys() - files.keys() - set(folder))),
        )


def is_stored(service: RegionalS3, upload: FileUpload, size: int) -> bool:
    """Return whether the object of an upload, which has a size in S3, has its content, by SHA-256."""
    content = MemoryContent(upload.content())
    if content.size != size:
        return False
    checksum = str(service.head(upload.uri).get("ChecksumSHA256", ""))
    has_same = has_sha256(content, checksum) if checksum else None
    if has_same is None:
        return service.sha256_of(upload.uri, size) == hashlib.sha256(content.data).hexdigest()
    return has_same


def upload_all(service: RegionalS3, uploads: Iterable[FileUpload]) -> Iterator[tuple[str, bool]]:
    """Upload each file, and yield its URI, and whether it was written: a different submission may have been faster.

    Raise `JobRefused` if that has written another content.
    """
    for upload in uploads:
        content = MemoryContent(upload.content())
        is_new = service.put(upload.uri, content, kms_key=upload.kms_key)
        if not is_new and not is_stored(service, upload, int(service.head(upload.uri).get("ContentLength", -1))):
            raise JobRefused(f"`{upload.uri}` was written by a different process, and is not the file of the spec")
        yield upload.uri, is_new


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPlan:
    """What an upload of a channel's files, URI → file, will do below ``uri``.

    ``differing`` are in S3 with a different content. ``unverified`` have the right size there, but no checksum that can
    be compared. ``others``: objects there that are not among the files.
    """

    channel: str
    uri: str
    files: Mapping[str, FileContent]
    missing: tuple[str, ...]
    differing: tuple[str, ...]
    unverified: tuple[str, ...]
    others: int

    @property
    def missing_bytes(self) -> int:
        return sum(self.files[uri].size for uri in self.missing)


def plan_data(
    service: RegionalS3, channel: str, uri: str, files: Mapping[str, FileContent], advance: Advance
) -> DataPlan:
    """Compare files with what S3 has. Raise `JobRefused` or `AwsUnavailable`. ``advance``: of files that are read."""
    there = service.objects(uri)
    found: dict[str, list[str]] = {"missing": [], "differing": [], "unverified": []}
    for target, file in files.items():
        stored = there.get(target)
        state = "missing" if stored is None else _state(service, target, file, stored)
        if state:
            found[state].append(target)
        if stored is not None:
            advance(file.size)
    return DataPlan(
        channel=channel,
        uri=uri,
        files=files,
        missing=tuple(found["missing"]),
        differing=tuple(found["differing"]),
        unverified=tuple(found["unverified"]),
        others=len(there.keys() - files.keys()),
    )


def upload_data(service: RegionalS3, plan: DataPlan, advance: Advance) -> None:
    """Upload the missing files of a plan, several at once.

    Raise `JobRefused` for a file that has changed, or that a different process uploads with a different content, and
    `AwsUnavailable`. Complete objects stay: the next attempt continues after them.
    """
    stopped = threading.Event()

    def advance_or_stop(count: int) -> None:
        if stopped.is_set():
            raise _Stopped
        advance(count)

    def upload(uri: str) -> None:
        if stopped.is_set():
            return
        file = plan.files[uri]
        if not service.put(uri, file, advance=advance_or_stop):
            stored = service.objects(uri).get(uri)
            if stored is None or _state(service, uri, file, stored) == "differing":
                raise JobRefused(f"`{uri}` was written by a different process, and differs from `{file.path}`")

    threads = ThreadPoolExecutor(_UPLOADS_AT_ONCE)
    uploads = [threads.submit(upload, uri) for uri in plan.missing]
    try:
        wait(uploads, return_when=FIRST_EXCEPTION)
    finally:
        stopped.set()
        threads.shutdown(wait=False, cancel_futures=True)
        # Uploads in parts end with the next part, and remove their parts; a server that does not answer is left alone.
        ended, _ = wait([each for each in uploads if not each.cancelled()], timeout=_GRACE_SECONDS)
    _raise_first(each.exception() for each in ended)


class _Stopped(Exception):
    """A different upload has failed, or the command ends."""


def _raise_first(faults: Iterable[BaseException | None]) -> None:
    for fault in faults:
        if fault is not None and not isinstance(fault, _Stopped):
            raise fault


def _state(service: RegionalS3, uri: str, file: FileContent, stored: ListedObject) -> str:
    """Return how an object relates to a file: empty if it has the same content."""
    if stored.size != file.size:
        return "differing"
    has_same = has_md5(file, stored.etag)
    if has_same:
        return ""
    head = service.head(uri)
    checksum = str(head.get("ChecksumSHA256", ""))
    has_same_sha256 = has_sha256(file, checksum) if checksum else None
    if has_same_sha256 is not None:
        return "" if has_same_sha256 else "differing"
    # With a KMS key, the ETag is not made of MD5 (API reference of S3, Object).
    has_plain_etag = head.get("ServerSideEncryption", "AES256") == "AES256" and "SSECustomerAlgorithm" not in head
    return "differing" if has_same is False and has_plain_etag else "unverified"
