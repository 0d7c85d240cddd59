"""The client of S3, and its faults as sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    EndpointConnectionError,
    HTTPClientError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)

from smspec.diagnostics.foreign_words import continued
from smspec.local.feeder.fault import DataError, StoreUnavailable

CONNECTIONS = 32
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "S3_ENDPOINT_URL", "AWS_ENDPOINT_URL")
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_ANY_REGION = "us-east-1"  # S3 tells where a bucket really is, and botocore follows
_MISSING = {"NoSuchKey", "404", "NotFound"}
_LOGIN = (CredentialRetrievalError, PartialCredentialsError, SSOError, TokenRetrievalError, ProfileNotFound)


def make_client() -> Any:
    """Return a client made as the AWS command makes its own: from environment, profile, or role of this machine."""
    endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), None)
    with told("S3"):
        session = boto3.Session()
        named = next((os.environ[name] for name in _REGIONS if os.environ.get(name)), None)
        return session.client(
            "s3",
            region_name=named or session.region_name or _ANY_REGION,
            endpoint_url=endpoint,
            config=Config(
                max_pool_connections=CONNECTIONS,
                retries={"mode": "standard", "max_attempts": 5},
                connect_timeout=10,
                read_timeout=60,
                # Other servers than AWS's seldom have a name for each bucket.
                s3={"addressing_style": "path"} if endpoint else {},
            ),
        )


@contextmanager
def told(uri: str) -> Iterator[None]:
    """Turn what boto3 raises about ``uri`` into DataError: the data's fault, or StoreUnavailable."""
    try:
        yield
    except NoCredentialsError:
        raise StoreUnavailable(
            f"there are no AWS credentials to read `{uri}` with; set AWS_PROFILE or log in with `aws`"
        ) from None
    except _LOGIN as fault:
        raise StoreUnavailable(
            f"the AWS credentials to read `{uri}` with cannot be had: {continued(str(fault))}"
        ) from None
    except ParamValidationError:
        raise DataError(f"`{uri}` names no bucket that S3 could have") from None
    except ClientError as fault:
        raise _refusal(uri, fault) from None
    except (EndpointConnectionError, HTTPClientError) as fault:
        raise StoreUnavailable(f"cannot reach S3 to read `{uri}`: {continued(str(fault))}") from None
    except BotoCoreError as fault:
        raise StoreUnavailable(f"cannot read `{uri}`: {continued(str(fault))}") from None


def _refusal(uri: str, fault: ClientError) -> DataError:
    error = fault.response.get("Error", {})
    code = str(error.get("Code", ""))
    if code == "NoSuchBucket":
        return DataError(f"there is no bucket for `{uri}`")
    if code in _MISSING:
        return DataError(f"there is no object `{uri}`")
    if code in ("PreconditionFailed", "412"):
        return DataError(f"`{uri}` changed while it was read")
    if code == "InvalidBucketName":
        return DataError(f"`{uri}` names no bucket that S3 could have")
    if code == "InvalidObjectState":
        return DataError(f"`{uri}` is archived; restore it first")
    message = continued(str(error.get("Message", ""))) or "no reason was given"
    return StoreUnavailable(f"S3 does not let us read `{uri}`: {code}: {message}")
