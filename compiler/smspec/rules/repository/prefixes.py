"""Prefixes of S3, as places that jobs write to."""

from __future__ import annotations

from collections.abc import Iterator


def normal(prefix: str) -> str:
    """Return a prefix as a directory: with and without a slash at its end is one place."""
    return prefix.rstrip("/") + "/"


def above(prefix: str) -> Iterator[str]:
    """Yield the prefixes that a normal one lies in, the innermost first, a whole bucket last."""
    end = len(prefix) - 1
    bucket = prefix.find("/", prefix.find("://") + 3)
    while end > bucket:
        end = prefix.rfind("/", 0, end)
        yield prefix[: end + 1]
