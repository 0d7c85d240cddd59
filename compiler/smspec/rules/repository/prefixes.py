"""S3 prefixes as locations that jobs write to and read.

S3 compares prefixes as text: ``s3://b/exp-1`` matches everything below ``s3://b/exp-10/`` too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

_LAST = "\U0010ffff"


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


def ends_inside_a_name(prefix: str) -> bool:
    """Return whether a prefix may match names that only begin like its last one. A bucket is a whole name."""
    return not prefix.endswith("/") and prefix.find("/", prefix.find("://") + 3) > 0


def longer_names(prefix: str, addresses: Sequence[str]) -> Iterator[str]:
    """Yield the addresses, which are sorted, in which the last name of a prefix goes on: ``exp-10`` for ``exp-1``."""
    for address in addresses[bisect_left(addresses, prefix) : bisect_left(addresses, prefix + _LAST)]:
        if not address.startswith(f"{prefix}/") and address != prefix:
            yield address
