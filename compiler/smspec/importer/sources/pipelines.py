"""A SageMaker pipeline: its definition, a CreatePipeline request, or the output of DescribePipeline."""

from __future__ import annotations

import json

from smspec.importer.definitions.found_jobs import FoundJob
from smspec.importer.definitions.pipelines import is_pipeline, jobs_of_steps
from smspec.importer.definitions.variables import DefinitionVariables
from smspec.importer.imported import RequestNotFound
from smspec.service.members import structure

_TEXT = "PipelineDefinition"


def detect(data: dict[str, object]) -> bool:
    return is_pipeline(data) or isinstance(data.get(_TEXT), str)


def jobs(data: dict[str, object], variables: DefinitionVariables) -> list[FoundJob]:
    """Return the jobs of the training and tuning steps."""
    if is_pipeline(data):
        return jobs_of_steps(data, variables)
    try:
        definition = json.loads(str(data[_TEXT]))
    except (ValueError, RecursionError) as fault:
        raise RequestNotFound("the pipeline definition is not JSON") from fault
    return jobs_of_steps(structure({"": definition}, ""), variables)
