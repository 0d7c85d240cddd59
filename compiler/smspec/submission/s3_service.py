"""The calls to S3 before a job is created: what is there, what is uploaded, and the checksums that S3 keeps of it."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from smspec.diagnostics.quoting import system_reason
from smspec.render.iam.statements import location
from smspec.source.frozen import dataclass
from smspec.submission.client import BUDGET_SECONDS, AwsUnavailable, JobRefused, asked, persistently, unavailable
from smspec.wire.aws import AwsRefused, AwsSession, Unsendable, responses
from smspec.wire.fault import WireFault

_PART = 8 << 20

_MOST_PARTS = 10_000
"""Of an object (S3 user guide, "Amazon S3 multipart upload limits")."""

_THERE = ("PreconditionFailed", "412")
_NO_BUCKET = ("NoSuchBucket",)

_LARGEST = 100 << 40
"""Bytes of an object; the maximum of S3 is half of it."""

_RANGE = 4 << 20
"""Bytes of an object that are downloaded at once: a response has a maximum size."""

_MOST_PAGES = 10_000
"""Of 1,000 objects each."""

_MOST_EMPTY_PAGES = 100
"""In a row, without new objects: S3 may skip deleted ones, but a list with one of its own tokens never ends."""

_MISSING = ("404", "NoSuchKey", "NotFound")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedObject:
    """An object in a listing: ``size`` in bytes; ``etag`` is the MD5 of its content, unless a KMS key encrypts it."""

    size: int
    etag: str


class RegionalS3:
    """S3 with the credentials of a profile, in the region of the job; S3 itself leads to a bucket elsewhere.

    ``budget``: seconds of pauses while S3 throttles a call. ``seconds``: for a response, None for those of `Deadline`.
    ``connections``: of threads that call at once.
    """

    def __init__(
        self,
        profile: str | None,
        region: str | None,
        *,
        budget: float = BUDGET_SECONDS,
        seconds: float | None = None,
        connections: int = 4,
    ) -> None:
        self._budget = budget
        with asked("S3"):
            session = AwsSession(profile, region, seconds=seconds, connections=connections)
            self._client = session.s3_client()

    def objects(self, uri: str) -> dict[str, ListedObject]:
        """Return the objects below a prefix, by URI. Raise `JobRefused` for a bucket that does not exist.

        Raise `AwsUnavailable` for a list without an end.
        """
        found: dict[str, ListedObject] = {}
        token: dict[str, Any] = {}
        bucket, _ = parts(uri)
        without_new = 0
        for _ in range(_MOST_PAGES):
            known = len(found)
            page = self._page(uri, **token)
            for each in page.get("Contents", ()):
                size = each.get("Size", 0)
                if "Key" not in each or not isinstance(size, int) or not 0 <= size <= _LARGEST:
                    raise AwsUnavailable(
                        f"the listing of S3 below `{uri}` has an object without a possible size or key"
                    )
                stored = ListedObject(size=size, etag=each.get("ETag", "").strip('"'))
                found[f"s3://{bucket}/{each['Key']}"] = stored
            following = page.get("NextContinuationToken")
            if not following:
                return found
            without_new = 0 if len(found) > known else without_new + 1
            if without_new >= _MOST_EMPTY_PAGES:
                break
            token = {"ContinuationToken": following}
        raise AwsUnavailable(f"S3 lists the objects below `{uri}` without an end")

    def has_objects(self, uri: str) -> bool:
        """Return whether there is an object below a prefix."""
        page = self._page(uri, MaxKeys=1)
        if not page.get("Contents") and "Name" not in page:
            raise AwsUnavailable(f"cannot use `{uri}`: the response of S3 is not a list of objects")
        return bool(page.get("Contents"))

    def head(self, uri: str) -> dict[str, Any]:
        """Return what S3 keeps about an object: size, ETag, encryption, and checksums.

        Raise `JobRefused` if it does not exist, `AwsUnavailable` if S3 cannot be called.
        """
        try:
            return self._head(uri)
        except _NotThere:
            raise JobRefused(f"`{uri}` does not exist") from None

    def has_object(self, uri: str) -> bool:
        """Return whether there is this object."""
        try:
            self._head(uri)
        except _NotThere:
            return False
        return True

    def sha256_of(self, uri: str, size: int) -> str:
        """Download an object of a size, and return the SHA-256 of its content, which S3 does not know."""
        bucket, key = parts(uri)
        digest = hashlib.sha256()
        for start in range(0, size, _RANGE):
            part = f"bytes={start}-{min(start + _RANGE, size) - 1}"
            call = functools.partial(self._downloaded, Bucket=bucket, Key=key, Range=part)
            try:
                digest.update(self._called(uri, "s3:GetObject", call)["content"])
            except _NotThere:
                raise JobRefused(f"`{uri}` does not exist") from None
        return digest.hexdigest()

    def _downloaded(self, **options: Any) -> dict[str, Any]:
        return {"content": self._client.get_object(**options)["Body"].read()}

    def put(
        self,
        uri: str,
        content: Content,
        *,
        kms_key: str | None = None,
        advance: Callable[[int], None] = lambda _bytes: None,
    ) -> bool:
        """Write an object unless it exists; return whether this call has written it.

        S3 checks the SHA-256 of what it receives, and keeps it. ``kms_key`` None: the encryption of the bucket.
        ``advance`` gets the bytes of each part that S3 has received.
        """
        where = dict(zip(("Bucket", "Key"), parts(uri), strict=True))
        encryption = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": kms_key} if kms_key else {}
        try:
            if content.size > part_length(content.size):
                self._put_parts(uri, content, where, encryption, advance)
                return True
            (body,) = content.parts()
            call = functools.partial(
                self._client.put_object, Body=body, ChecksumSHA256=sha256(body), IfNoneMatch="*", **where, **encryption
            )
            self._called(uri, "s3:PutObject", call)
            advance(len(body))
        except _AlreadyThere:
            return False
        except _NotThere:
            raise AwsUnavailable(f"cannot write `{uri}`: S3 does not find it") from None
        return True

    def _head(self, uri: str) -> dict[str, Any]:
        bucket, key = parts(uri)
        call = functools.partial(self._client.head_object, Bucket=bucket, Key=key, ChecksumMode="ENABLED")
        return self._called(uri, "s3:GetObject", call)

    def _put_parts(
        self,
        uri: str,
        content: Content,
        where: dict[str, str],
        encryption: dict[str, str],
        advance: Callable[[int], None],
    ) -> None:
        """Write an object in parts, which appears when all are there; remove them if that fails."""
        client = self._client
        begin = functools.partial(client.create_multipart_upload, ChecksumAlgorithm="SHA256", **where, **encryption)
        upload = {**where, "UploadId": self._called(uri, "s3:PutObject", begin)["UploadId"]}
        is_complete = False
        try:
            sent = []
            for number, body in enumerate(content.parts(), 1):
                checksum = sha256(body)
                part = {**upload, "PartNumber": number, "Body": body, "ChecksumSHA256": checksum}
                answer = self._called(uri, "s3:PutObject", functools.partial(client.upload_part, **part))
                sent.append({"PartNumber": number, "ETag": answer["ETag"], "ChecksumSHA256": checksum})
                advance(len(body))
            finish = functools.partial(
                client.complete_multipart_upload, **upload, MultipartUpload={"Parts": sent}, IfNoneMatch="*"
            )
            self._called(uri, "s3:PutObject", finish)
            is_complete = True
        finally:
            if not is_complete:
                abort = functools.partial(client.abort_multipart_upload, **upload)
                with contextlib.suppress(AwsUnavailable, JobRefused, _NotThere):
                    self._called(uri, "s3:AbortMultipartUpload", abort)

    def _page(self, uri: str, **options: Any) -> dict[str, Any]:
        bucket, prefix = parts(uri)
        call = functools.partial(self._client.list_objects_v2, Bucket=bucket, Prefix=prefix, **options)
        try:
            return self._called(uri, "s3:ListBucket", call)
        except _NotThere:
            raise JobRefused(f"S3 does not find the bucket of `{uri}`") from None

    def _called(self, uri: str, action: str, call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        def attempt() -> dict[str, Any]:
            with responses(f"use `{uri}`"):
                return call()

        try:
            return persistently(attempt, budget=self._budget)
        except Unsendable:
            raise JobRefused(f"`{uri}` has no valid bucket name") from None
        except AwsRefused as refusal:
            if refusal.code in _THERE:
                raise _AlreadyThere from None
            if refusal.code in _NO_BUCKET:
                raise JobRefused(f"the bucket of `{uri}` does not exist") from None
            if refusal.code in _MISSING:
                raise _NotThere from None
            resource = _resource(uri, action)
            raise unavailable(f"use `{uri}`", refusal.code, refusal.message, action, resource) from None
        except WireFault as fault:
            raise AwsUnavailable(str(fault)) from None


def parts(uri: str) -> tuple[str, str]:
    """Return the bucket, or the ARN of an access point, and the key of an S3 URI."""
    found = location(uri)
    return (found.bucket, found.key) if found else ("", "")


def object_arn(uri: str) -> str:
    bucket, key = parts(uri)
    return f"{bucket}/object/{key}" if bucket.startswith("arn:") else f"arn:*:s3:::{bucket}/{key}"


def _resource(uri: str, action: str) -> str:
    if action != "s3:ListBucket":
        return object_arn(uri)
    bucket, _ = parts(uri)
    return bucket if bucket.startswith("arn:") else f"arn:*:s3:::{bucket}"


class _AlreadyThere(Exception):
    pass


class _NotThere(Exception):
    pass
