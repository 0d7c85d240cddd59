"""A CloudFormation or SAM template with a state machine or pipeline that creates a training job."""

from __future__ import annotations

from smspec.importer.definitions.found_jobs import FoundJob
from smspec.importer.definitions.templates import is_template, jobs_of_template
from smspec.importer.definitions.variables import DefinitionVariables


def detect(data: dict[str, object]) -> bool:
    return is_template(data)


def jobs(data: dict[str, object], variables: DefinitionVariables) -> list[FoundJob]:
    """Return the jobs of the state machines and pipelines."""
    return jobs_of_template(data, variables)
