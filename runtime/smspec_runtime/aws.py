"""Calls to AWS, with the boto3 of the image."""

import importlib
import re

from .lean_typing import Any, Environ, Json, Mapping, Tuple, Type
from .refusal import Refused

_ARN = re.compile(r"arn:[^:]+:codeartifact:([^:]+):([^:]+):repository/([^/]+)/(.+)")


def open_client(service: str, purpose: str, options: Mapping[str, Any]) -> Any:
    """Raise Refused, with ``purpose``, if the image has no boto3."""
    try:
        # By name: for checkers the runtime does not depend on it.
        return importlib.import_module("boto3").client(service, **options)
    except ImportError as error:
        raise Refused(f"{purpose}: the image has no boto3: install it there") from error


def client_errors() -> Tuple[Type[Exception], ...]:
    """The exceptions of a client, once one exists."""
    boto3, botocore = map(importlib.import_module, ("boto3.exceptions", "botocore.exceptions"))
    return (OSError, ValueError, boto3.Boto3Error, botocore.BotoCoreError, botocore.ClientError)


def s3_options(sagemaker: Mapping[str, Any], environ: Environ) -> Json:
    region = environ.get("AWS_REGION") or sagemaker.get("sagemaker_region")
    return {"region_name": region or None, "endpoint_url": environ.get("S3_ENDPOINT_URL") or None}


def fetch(uri: str, path: str, options: Mapping[str, Any]) -> None:
    failed = f"cannot fetch {uri}"
    bucket, _, key = uri[len("s3://") :].partition("/")
    if not bucket or not key:
        raise Refused(f"{failed}: it names no object")
    client = open_client("s3", failed, options)
    try:
        body = client.get_object(Bucket=bucket, Key=key)["Body"]
        with open(path, "wb") as file:
            for chunk in body.iter_chunks(1 << 20):  # Raises if bytes are missing.
                file.write(chunk)
    except client_errors() as error:
        raise Refused(f"{failed}: {error}") from error


def package_index(arn: str) -> str:
    """The URL of a CodeArtifact index, with a token."""
    if not (parts := _ARN.fullmatch(arn)):
        raise Refused(f"CA_REPOSITORY_ARN is not the ARN of a CodeArtifact repository: {arn}")
    region, account, domain, repository = parts.groups()
    client = open_client("codeartifact", "CodeArtifact, as CA_REPOSITORY_ARN asks", {"region_name": region})
    owner = {"domain": domain, "domainOwner": account}
    try:
        token = client.get_authorization_token(**owner)["authorizationToken"]
        endpoint = client.get_repository_endpoint(repository=repository, format="pypi", **owner)
    except client_errors() as error:
        raise Refused(f"CodeArtifact: {error}") from error
    url = str(endpoint["repositoryEndpoint"]).rstrip("/")
    return url.replace("://", f"://aws:{token}@", 1) + "/simple/"
