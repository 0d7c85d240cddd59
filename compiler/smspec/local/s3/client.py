"""The S3 client, with its errors as sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botocore.config import Config

from smspec.local.feeder.objects import ChannelDataError, StoreUnavailable
from smspec.wire.aws import AwsRefused, AwsSession, Unsendable, responses
from smspec.wire.fault import WireFault

CONNECTIONS = 32
RANGE = 8 << 20
"""Bytes of one request. An object of up to this size is downloaded in one."""

_SLACK = 1 << 16
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "S3_ENDPOINT_URL", "AWS_ENDPOINT_URL")
_ANY_REGION = "us-east-1"  # S3 returns the real region of a bucket, and botocore follows
_DATA_FAULTS = {
    "NoSuchBucket": "the bucket of `{}` does not exist",
    "NoSuchKey": "`{}` does not exist",
    "404": "`{}` does not exist",
    "NotFound": "`{}` does not exist",
    "PreconditionFailed": "`{}` changed while smspec was reading it",
    "412": "`{}` changed while smspec was reading it",
    "InvalidBucketName": "`{}` has no valid bucket name",
    "InvalidObjectState": "`{}` is archived; restore it first",
}


def make_client() -> Any:
    """Return a client configured as the AWS CLI does it: from environment, profile, or role of this machine."""
    endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), None)
    with asked("S3"):
        aws = AwsSession(largest=RANGE + _SLACK, connections=CONNECTIONS, of_job=False)
        return aws.client(
            "s3",
            region_name=aws.session.region_name or _ANY_REGION,
            endpoint_url=endpoint,
            # Servers other than AWS's seldom have a host name for each bucket.
            config=Config(s3={"addressing_style": "path"} if endpoint else {}),
        )


@contextmanager
def asked(uri: str) -> Iterator[None]:
    """Convert what boto3 raises about ``uri`` to ChannelDataError for invalid data, or StoreUnavailable."""
    try:
        with responses(f"read `{uri}`"):
            yield
    except Unsendable:
        raise ChannelDataError(f"`{uri}` has no valid bucket name") from None
    except AwsRefused as refusal:
        if refusal.code in _DATA_FAULTS:
            raise ChannelDataError(_DATA_FAULTS[refusal.code].format(uri)) from None
        raise StoreUnavailable(f"S3 rejects the request for `{uri}`: {refusal}") from None
    except WireFault as fault:
        raise StoreUnavailable(str(fault)) from None
