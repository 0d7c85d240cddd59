"""What the AWS managed policy AmazonSageMakerFullAccess does not cover, since it goes by names.

It allows objects of buckets, and pushes to repositories, whose names contain ``sagemaker``
(https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerFullAccess.html).
"""

from __future__ import annotations

from collections.abc import Iterable

from smspec.render.iam.s3 import Location

_IN_BUCKETS = ("SageMaker", "Sagemaker", "sagemaker", "aws-glue")
_IN_REPOSITORIES = "sagemaker"
_NAMED = 3


def bucket_notes(locations: Iterable[Location]) -> list[str]:
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
