"""The formats of a request, one file each, the most specific first."""

from __future__ import annotations

from collections.abc import Callable

from smspec.importer.imported import NO_JOB, Imported, RequestNotFound
from smspec.importer.sources import ack, create_training_job, describe_training_job, step_functions
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """``detect`` returns whether a mapping has this format.

    ``to_request`` extracts the request, or raises `RequestNotFound`.
    """

    name: str
    detect: Callable[[dict[str, object]], bool]
    to_request: Callable[[dict[str, object]], Imported]


SOURCES = (
    SourceFormat("ack", ack.detect, ack.to_request),
    SourceFormat("step_functions", step_functions.detect, step_functions.to_request),
    SourceFormat("describe_training_job", describe_training_job.detect, describe_training_job.to_request),
    SourceFormat("create_training_job", create_training_job.detect, create_training_job.to_request),
)


def imported(data: object) -> Imported:
    """Return the request in ``data``; raise `RequestNotFound` if it has none of the formats in `SOURCES`."""
    if isinstance(data, dict):
        for source in SOURCES:
            if source.detect(data):
                return source.to_request(data)
        if "smspec" in data:
            raise RequestNotFound("already a job spec")
    raise RequestNotFound(NO_JOB)
