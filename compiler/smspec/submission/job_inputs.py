"""The channels of a request with data in S3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

S3_PREFIX = "S3Prefix"
"""The S3DataType of a channel whose address is the beginning of the names of its objects."""


def channels_in_s3(request: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the URI, and the S3DataType of each channel with data in S3."""
    for channel in request.get("InputDataConfig", ()):
        source = channel.get("DataSource", {}).get("S3DataSource")
        if source:
            yield channel["ChannelName"], source["S3Uri"], source["S3DataType"]
