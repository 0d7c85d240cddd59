"""The formats of a source, one file each, the most specific first."""

from __future__ import annotations

from collections.abc import Callable

from smspec.importer.definitions.found_jobs import FoundJob, selected
from smspec.importer.definitions.settling import settled
from smspec.importer.definitions.variables import DefinitionVariables, TooManyVariables
from smspec.importer.imported import NO_JOB, Imported, RequestNotFound
from smspec.importer.sources import (
    ack,
    ack_definitions,
    batch,
    cloudformation,
    create_training_job,
    describe_training_job,
    operator,
    other_requests,
    pipelines,
    step_functions,
    terraform,
    tuning_job,
)
from smspec.source.frozen import dataclass

Data = dict[str, object]


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """``detect`` returns whether a mapping has this format; ``what`` describes the format.

    ``jobs`` returns the training jobs; it, or the jobs, raise `RequestNotFound`.
    """

    name: str
    what: str
    detect: Callable[[Data], bool]
    jobs: Callable[[Data, DefinitionVariables], list[FoundJob]]


def _alone(to_request: Callable[[Data], Imported]) -> Callable[[Data, DefinitionVariables], list[FoundJob]]:
    return lambda data, _: [FoundJob("", "", lambda: to_request(data))]


SOURCES = (
    SourceFormat("ack_definitions", "the object", ack_definitions.detect, ack_definitions.jobs),
    SourceFormat("ack", "the list", ack.detect, ack.jobs),
    SourceFormat("operator", "the object", operator.detect, operator.jobs),
    SourceFormat("cloudformation", "the template", cloudformation.detect, cloudformation.jobs),
    SourceFormat("terraform", "the plan or state", terraform.detect, terraform.jobs),
    SourceFormat("pipelines", "the pipeline", pipelines.detect, pipelines.jobs),
    SourceFormat("tuning_job", "the tuning job", tuning_job.detect, tuning_job.jobs),
    SourceFormat("batch", "the service job", batch.detect, _alone(batch.to_request)),
    SourceFormat("step_functions", "the state machine", step_functions.detect, step_functions.jobs),
    SourceFormat("describe_training_job", "it", describe_training_job.detect, _alone(describe_training_job.to_request)),
    SourceFormat("create_training_job", "it", create_training_job.detect, _alone(create_training_job.to_request)),
)


_STRICT = ("describe_training_job", "create_training_job")
"""A request is read strictly: an error in it has a position."""


def is_definition(data: object) -> bool:
    """Return whether ``data`` has a format of a tool that reads its files less strictly than smspec reads requests."""
    return isinstance(data, dict) and any(source.detect(data) for source in SOURCES if source.name not in _STRICT)


def imported(data: object, choice: str | None = None) -> Imported:
    """Return the request in ``data``, or the chosen one of several.

    Raise `RequestNotFound` if it has none of the formats in `SOURCES`, or if the choice is open.
    """
    (found,) = imported_jobs(data, choice, all_jobs=False)
    return found


def imported_jobs(data: object, choice: str | None = None, *, all_jobs: bool = True) -> tuple[Imported, ...]:
    """Return all requests in ``data``, or the chosen one. Raise as `imported`."""
    if isinstance(data, dict):
        if "smspec" in data:
            raise RequestNotFound("already a job spec")
        for source in SOURCES:
            if source.detect(data):
                variables = DefinitionVariables()
                try:
                    jobs = selected(source.jobs(data, variables), choice, source.what, all_jobs=all_jobs)
                    return tuple(settled(found, variables) for found in jobs)
                except TooManyVariables as many:
                    raise RequestNotFound("it has more variables than a job can have") from many
        other = other_requests.kind_of(data)
        if other:
            raise RequestNotFound(f"{other}, not a training job")
    raise RequestNotFound(NO_JOB)
