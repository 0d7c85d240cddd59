"""Whether the data of a job are there, before it is created: SageMaker would say so after minutes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from smspec.source.frozen import dataclass
from smspec.submission.aws_errors import AccessDenied, JobRefused
from smspec.submission.s3_service import S3Service

_PREFIX = "S3Prefix"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobInput:
    """The data of a channel. ``fault``: why the job cannot read it. ``unknown``: why that cannot be checked."""

    channel: str
    uri: str
    fault: str = ""
    unknown: str = ""


def job_inputs(service: S3Service, request: Mapping[str, Any]) -> Iterator[JobInput]:
    """Yield each channel with data in S3. Raise `AwsUnavailable` if S3 cannot be asked at all."""
    for name, uri, kind in channels_in_s3(request):
        yield _looked_up(service, name, uri, kind)


def channels_in_s3(request: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the URI, and the S3DataType of each channel with data in S3."""
    for channel in request.get("InputDataConfig", ()):
        source = channel.get("DataSource", {}).get("S3DataSource")
        if source:
            yield channel["ChannelName"], source["S3Uri"], source["S3DataType"]


def _looked_up(service: S3Service, name: str, uri: str, kind: str) -> JobInput:
    try:
        if service.has_objects(uri) if kind == _PREFIX else service.has_object(uri):
            return JobInput(channel=name, uri=uri)
        what = "no objects begin with" if kind == _PREFIX else "no such object:"
        return JobInput(channel=name, uri=uri, fault=f"{what} `{uri}`")
    except JobRefused as refused:
        return JobInput(channel=name, uri=uri, fault=str(refused))
    except AccessDenied as denied:
        # The role of the job may read what its submitter may not.
        return JobInput(channel=name, uri=uri, unknown=str(denied))
