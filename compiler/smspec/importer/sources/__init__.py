"""The formats of a source, the most specific first.

Requests, objects of Kubernetes, and Terraform are read here; `definitions` has what defines jobs inside of it.
"""

from __future__ import annotations

from collections.abc import Callable

from smspec.importer.definitions import pipelines, state_machine, templates, tuning
from smspec.importer.definitions.settling import settled
from smspec.importer.definitions.variables import DefinitionVariables, FoundJob, TooManyVariables, selected
from smspec.importer.imported import NO_JOB, Imported, RequestNotFound
from smspec.importer.sources import kubernetes, requests, terraform
from smspec.source.frozen import dataclass

Data = dict[str, object]


@dataclass(frozen=True, slots=True)
class SourceFormat:
    """``detect`` returns whether a mapping has this format; ``what`` describes the format.

    ``jobs`` returns the training jobs; it, or the jobs, raise `RequestNotFound`. ``is_strict``: an error in the request
    has a position.
    """

    what: str
    detect: Callable[[Data], bool]
    jobs: Callable[[Data, DefinitionVariables], list[FoundJob]]
    is_strict: bool = False


def _alone(to_request: Callable[[Data], Imported]) -> Callable[[Data, DefinitionVariables], list[FoundJob]]:
    return lambda data, _: [FoundJob("", "", lambda: to_request(data))]


SOURCES = (
    SourceFormat("the object", kubernetes.detect_ack_definitions, kubernetes.jobs_of_ack_definitions),
    SourceFormat("the list", kubernetes.detect_ack, kubernetes.jobs_of_ack),
    SourceFormat("the object", kubernetes.detect_operator, kubernetes.jobs_of_operator),
    SourceFormat("the template", templates.detect_template, templates.jobs_of_template),
    SourceFormat("the plan or state", terraform.detect_terraform, terraform.jobs_of_terraform),
    SourceFormat("the pipeline", pipelines.detect_pipeline, pipelines.jobs_of_pipeline),
    SourceFormat("the tuning job", tuning.detect_tuning_job, tuning.jobs_of_tuning_job),
    SourceFormat("the service job", requests.detect_service_job, _alone(requests.request_of_service_job)),
    SourceFormat("the state machine", state_machine.detect_state_machine, state_machine.jobs_of_state_machine),
    SourceFormat("it", requests.detect_description, _alone(requests.request_of_description), is_strict=True),
    SourceFormat("it", requests.detect_request, _alone(requests.request_itself), is_strict=True),
)


def is_definition(data: object) -> bool:
    """Return whether ``data`` has a format of a tool that reads its files less strictly than smspec reads requests."""
    return isinstance(data, dict) and any(source.detect(data) for source in SOURCES if not source.is_strict)


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
        other = requests.kind_of(data)
        if other:
            raise RequestNotFound(f"{other}, not a training job")
    raise RequestNotFound(NO_JOB)
