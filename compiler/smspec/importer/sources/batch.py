"""A SubmitServiceJob request of AWS Batch, or the output of DescribeServiceJob: the request is a string in it."""

from __future__ import annotations

import json

from smspec.importer.imported import Imported, RequestNotFound
from smspec.service.members import structure

_REQUEST = "serviceRequestPayload"


def detect(data: dict[str, object]) -> bool:
    return isinstance(data.get(_REQUEST), str)


def to_request(data: dict[str, object]) -> Imported:
    """Return the request of the service job."""
    try:
        request = json.loads(str(data[_REQUEST]))
    except (ValueError, RecursionError) as fault:
        raise RequestNotFound(f"`{_REQUEST}` is not JSON") from fault
    name = data.get("jobName")
    return Imported(
        form="a service job of AWS Batch",
        request=structure({"": request}, ""),
        left_out=tuple(each for each in data if each not in (_REQUEST, "jobName", "serviceJobType")),
        stem=name if isinstance(name, str) else "",
    )
