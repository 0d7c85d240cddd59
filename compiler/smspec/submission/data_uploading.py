"""Upload the local data of a channel to its prefix in S3: no object that is there already is written again.

A different object is an error: a result that was made with it would no longer match the request that names it. boto3's
transfer manager does not support ``IfNoneMatch``, so parts are sent here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from smspec.source.frozen import dataclass
from smspec.submission.aws_errors import JobRefused
from smspec.submission.object_content import FileContent, has_md5, has_sha256
from smspec.submission.s3_service import ListedObject, S3Service

_UPLOADS_AT_ONCE = 4
_GRACE_SECONDS = 10.0

Advance = Callable[[int], None]
"""Gets the bytes that have been read or uploaded since the last call; called from several threads."""


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
    service: S3Service, channel: str, uri: str, files: Mapping[str, FileContent], advance: Advance
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


def upload_data(service: S3Service, plan: DataPlan, advance: Advance) -> None:
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


def _state(service: S3Service, uri: str, file: FileContent, stored: ListedObject) -> str:
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
