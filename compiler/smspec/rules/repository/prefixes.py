"""S3 prefixes as locations that jobs write to."""

from __future__ import annotations

from collections.abc import Iterator


def normal(prefix: str) -> str:
    """Return a prefix as a directory: with and without a trailing slash it is the same location."""
    return prefix.rstrip("/") + "/"


def above(prefix: str) -> Iterator[str]:
    """Yield the parent prefixes of a normalized one, the innermost first, the bucket last."""
    end = len(prefix) - 1
    bucket = prefix.find("/", prefix.find("://") + 3)
    while end > bucket:
        end = prefix.rfind("/", 0, end)
        yield prefix[: end + 1]
