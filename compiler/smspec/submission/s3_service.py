"""The calls to S3 before a job is created: what is there, and what is uploaded."""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Callable
from typing import Any

from smspec.submission.aws_errors import DENIED, ActionDenied, AwsUnavailable, JobRefused, denied_action
from smspec.submission.client import asked
from smspec.wire.aws import AwsRefused, AwsSession, Unsendable, responses
from smspec.wire.fault import WireFault

_THERE = ("PreconditionFailed", "412")
_NO_BUCKET = ("NoSuchBucket",)
_MISSING = ("404", "NoSuchKey", "NotFound")


class S3Service:
    """S3 with the credentials of a profile, in the region of the job; S3 itself leads to a bucket elsewhere."""

    def __init__(self, profile: str | None, region: str | None) -> None:
        with asked("S3"):
            self._client = AwsSession(profile, region).s3_client()

    def keys(self, uri: str) -> dict[str, int]:
        """Return the keys below a prefix, with their sizes. Raise `JobRefused` for a bucket that does not exist."""
        found: dict[str, int] = {}
        token: dict[str, Any] = {}
        while True:
            page = self._page(uri, **token)
            found.update({each["Key"]: each.get("Size", 0) for each in page.get("Contents", ())})
            following = page.get("NextContinuationToken")
            if not following or following == token.get("ContinuationToken"):
                return found
            token = {"ContinuationToken": following}

    def has_objects(self, uri: str) -> bool:
        """Return whether there is an object below a prefix."""
        return bool(self._page(uri, MaxKeys=1).get("Contents"))

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

    def put(self, uri: str, content: bytes) -> bool:
        """Write an object unless it exists; return whether this call has written it.

        S3 checks the SHA-256 of what it receives, and keeps it.
        """
        bucket, key = parts(uri)
        checksum = base64.b64encode(hashlib.sha256(content).digest()).decode()
        try:
            self._called(
                uri,
                "s3:PutObject",
                lambda: self._client.put_object(
                    Bucket=bucket, Key=key, Body=content, ChecksumSHA256=checksum, IfNoneMatch="*"
                ),
            )
        except _AlreadyThere:
            return False
        return True

    def _head(self, uri: str) -> dict[str, Any]:
        bucket, key = parts(uri)
        call = functools.partial(self._client.head_object, Bucket=bucket, Key=key, ChecksumMode="ENABLED")
        return self._called(uri, "s3:GetObject", call)

    def _page(self, uri: str, **options: Any) -> dict[str, Any]:
        bucket, prefix = parts(uri)
        call = functools.partial(self._client.list_objects_v2, Bucket=bucket, Prefix=prefix, **options)
        return self._called(uri, "s3:ListBucket", call)

    def _called(self, uri: str, action: str, call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        try:
            with responses(f"use `{uri}`"):
                answer: dict[str, Any] = call()
                return answer
        except Unsendable:
            raise JobRefused(f"`{uri}` has no valid bucket name") from None
        except AwsRefused as refusal:
            if refusal.code in _THERE:
                raise _AlreadyThere from None
            if refusal.code in _NO_BUCKET:
                raise JobRefused(f"the bucket of `{uri}` does not exist") from None
            if refusal.code in _MISSING:
                raise _NotThere from None
            if refusal.code in DENIED:
                denied = denied_action(refusal.message)
                raise (denied or ActionDenied(action, _resource(uri, action))) from None
            raise AwsUnavailable(f"S3 rejects the request for `{uri}`: {refusal}") from None
        except WireFault as fault:
            raise AwsUnavailable(str(fault)) from None


def parts(uri: str) -> tuple[str, str]:
    """Return the bucket and the key of ``s3://bucket/key``."""
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key


def object_arn(uri: str) -> str:
    bucket, key = parts(uri)
    return f"arn:*:s3:::{bucket}/{key}"


def _resource(uri: str, action: str) -> str:
    return f"arn:*:s3:::{parts(uri)[0]}" if action == "s3:ListBucket" else object_arn(uri)


class _AlreadyThere(Exception):
    pass


class _NotThere(Exception):
    pass
