"""Statements of an IAM policy, their keys and S3 prefixes, and what an AWS managed policy allows of these.

AmazonSageMakerFullAccess goes by names: it allows objects of buckets, and pushes to repositories, whose names contain
``sagemaker`` (https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerFullAccess.html).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from smspec.service.arns import parsed_arn
from smspec.source.frozen import dataclass

Statement = dict[str, object]

SERVICE = "sagemaker.amazonaws.com"
PULL = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]

_CONTENT = r"(?:\A|(?<=/))[0-9a-f]{64}/[^/]*\Z"
"""The end of a key that a build uploads to: the digest of the content, then a file or nothing."""

_IN_BUCKETS = ("SageMaker", "Sagemaker", "sagemaker", "aws-glue")
_IN_REPOSITORIES = "sagemaker"
_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlace:
    """Where the job runs, in the notation of ARNs; an unknown part is ``*``."""

    partition: str
    region: str
    account: str

    def arn(self, service: str, resource: str) -> str:
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{resource}"


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Prefix:
    """A bucket, or the ARN of an access point, and the prefix of its keys."""

    bucket: str
    key: str

    def objects(self, place: JobPlace) -> str:
        """Return the ARN of every object below."""
        if self.bucket.startswith("arn:"):
            return f"{self.bucket}/object/{literal(self.key)}*"
        return f"arn:{place.partition}:s3:::{self.bucket}/{literal(self.key)}*"

    def holder(self, place: JobPlace) -> str:
        """Return the ARN of the bucket or access point that is listed."""
        return self.bucket if self.bucket.startswith("arn:") else f"arn:{place.partition}:s3:::{self.bucket}"


def place_of(payload: dict[str, object], region: str | None) -> JobPlace:
    """Return the place of a job: partition and account are those of its role."""
    role = parsed_arn(payload.get("RoleArn"))
    return JobPlace(
        partition=role.partition if role else "aws",
        region=region or "*",
        account=role.account if role and role.account else "*",
    )


def allow(sid: str, actions: list[str], resources: list[str], condition: Statement | None = None) -> Statement:
    """Return a statement; resources are sorted and unique."""
    unique = sorted(set(resources))
    statement: Statement = {
        "Sid": sid,
        "Effect": "Allow",
        "Action": actions,
        "Resource": unique[0] if len(unique) == 1 else unique,
    }
    return statement | ({"Condition": condition} if condition else {})


def policy(statements: list[Statement]) -> Statement:
    return {"Version": "2012-10-17", "Statement": statements}


def literal(text: str) -> str:
    """Return a text escaped for a policy, which has wildcards and variables (IAM, policy variables)."""
    return re.sub(r"[*?$]", lambda match: f"${{{match[0]}}}", text)


def key_statement(sid: str, actions: list[str], key: object, place: JobPlace) -> list[Statement]:
    """Return the statement about a key that a request sets by id, ARN, or alias; none if it sets none."""
    if not isinstance(key, str) or not key:
        return []
    where, is_alias, alias = key.partition("alias/")
    if is_alias:
        # The ARN of an alias in a policy refers to the alias itself, not to its key (KMS developer guide, aliases).
        # The key is in the region and account of the alias.
        named: Statement = {"ForAnyValue:StringEquals": {"kms:ResourceAliases": f"alias/{alias}"}}
        return [allow(sid, actions, [f"{where or place.arn('kms', '')}key/*"], named)]
    return [allow(sid, actions, [key if key.startswith("arn:") else place.arn("kms", f"key/{key}")])]


def location(uri: object) -> S3Prefix | None:
    """Parse an ``s3://`` address; None for any other."""
    if not isinstance(uri, str) or not uri.startswith("s3://"):
        return None
    rest = uri.removeprefix("s3://")
    if rest.startswith("arn:"):
        # s3://arn:aws:s3:region:account:accesspoint/name/key: the first two steps are the access point.
        kind, _, after = rest.partition("/")
        name, _, key = after.partition("/")
        return S3Prefix(bucket=f"{kind}/{name}", key=key)
    bucket, _, key = rest.partition("/")
    return S3Prefix(bucket=bucket, key=key) if bucket else None


def delivery(uri: object) -> S3Prefix | None:
    """Return the location of source and runtime in all their versions: a digest changes with the next commit."""
    found = location(uri)
    return None if found is None else S3Prefix(bucket=found.bucket, key=re.sub(_CONTENT, "", found.key))


def directory(uri: object) -> S3Prefix | None:
    """Return the address as a directory: SageMaker inserts a `/` between it and what it writes."""
    found = location(uri)
    if found is None:
        return None
    return S3Prefix(bucket=found.bucket, key=f"{found.key.rstrip('/')}/" if found.key.rstrip("/") else "")


def objects(sid: str, actions: list[str], locations: Iterable[S3Prefix], place: JobPlace) -> list[Statement]:
    """Return the statement about objects below ``locations``; empty if there are none."""
    arns = [location.objects(place) for location in locations]
    return [allow(sid, actions, arns)] if arns else []


def listing(sid: str, locations: Iterable[S3Prefix], place: JobPlace) -> list[Statement]:
    """Return a statement per bucket: keys can be listed only below these prefixes."""
    prefixes: dict[str, list[str]] = {}
    for found in locations:
        prefixes.setdefault(found.holder(place), []).append(f"{literal(found.key)}*")
    return [
        allow(
            f"{sid}{number or ''}",
            ["s3:ListBucket"],
            [holder],
            {"StringLike": {"s3:prefix": sorted(set(keys))}} if "*" not in keys else None,
        )
        for number, (holder, keys) in enumerate(sorted(prefixes.items()))
    ]


def bucket_notes(locations: Iterable[S3Prefix]) -> list[str]:
    """Return a note on the buckets that the managed policy does not cover; none about access points."""
    buckets = sorted({location.bucket for location in locations if not location.bucket.startswith("arn:")})
    others = [bucket for bucket in buckets if not any(part in bucket for part in _IN_BUCKETS)]
    return [_note("read or write", "bucket", others)] if others else []


def repository_notes(repositories: Iterable[str]) -> list[str]:
    """Return a note on the repositories to which the managed policy allows no push."""
    others = sorted({name for name in repositories if _IN_REPOSITORIES not in name})
    return [_note("push to", "repository", others)] if others else []


def _note(actions: str, kind: str, names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    plural = {"bucket": "buckets", "repository": "repositories"}[kind] if len(names) > 1 else kind
    return f"AmazonSageMakerFullAccess does not allow to {actions} {plural} {shown}{more}: attach this policy too"
