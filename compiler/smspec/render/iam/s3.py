"""S3 prefixes in statements of a policy."""

from __future__ import annotations

import re
from collections.abc import Iterable

from smspec.render.iam.statements import Place, Statement, allow, literal
from smspec.source.frozen import dataclass

_CONTENT = r"(?:\A|(?<=/))[0-9a-f]{64}/[^/]*\Z"
"""The end of a key that a build uploads to: the digest of the content, then a file or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A bucket, or the ARN of an access point, and the prefix of its keys."""

    bucket: str
    key: str

    def objects(self, place: Place) -> str:
        """Return the ARN of every object below."""
        if self.bucket.startswith("arn:"):
            return f"{self.bucket}/object/{literal(self.key)}*"
        return f"arn:{place.partition}:s3:::{self.bucket}/{literal(self.key)}*"

    def holder(self, place: Place) -> str:
        """Return the ARN of the bucket or access point that is listed."""
        return self.bucket if self.bucket.startswith("arn:") else f"arn:{place.partition}:s3:::{self.bucket}"


def location(uri: object) -> Location | None:
    """Parse an ``s3://`` address; None for any other."""
    if not isinstance(uri, str) or not uri.startswith("s3://"):
        return None
    rest = uri.removeprefix("s3://")
    if rest.startswith("arn:"):
        # s3://arn:aws:s3:region:account:accesspoint/name/key: the first two steps are the access point.
        kind, _, after = rest.partition("/")
        name, _, key = after.partition("/")
        return Location(bucket=f"{kind}/{name}", key=key)
    bucket, _, key = rest.partition("/")
    return Location(bucket=bucket, key=key) if bucket else None


def delivery(uri: object) -> Location | None:
    """Return the location of source and runtime in all their versions: a digest changes with the next commit."""
    found = location(uri)
    return None if found is None else Location(bucket=found.bucket, key=re.sub(_CONTENT, "", found.key))


def directory(uri: object) -> Location | None:
    """Return the address as a directory: SageMaker inserts a `/` between it and what it writes."""
    found = location(uri)
    if found is None:
        return None
    return Location(bucket=found.bucket, key=f"{found.key.rstrip('/')}/" if found.key.rstrip("/") else "")


def objects(sid: str, actions: list[str], locations: Iterable[Location], place: Place) -> list[Statement]:
    """Return the statement about objects below ``locations``; empty if there are none."""
    arns = [location.objects(place) for location in locations]
    return [allow(sid, actions, arns)] if arns else []


def listing(sid: str, locations: Iterable[Location], place: Place) -> list[Statement]:
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
