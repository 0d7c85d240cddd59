"""Objects of the ACK controller that contain a training job: a HyperParameterTuningJob, or a Pipeline."""

from __future__ import annotations

import json

from smspec.importer.definitions.found_jobs import FoundJob
from smspec.importer.definitions.member_names import with_api_names
from smspec.importer.definitions.pipelines import jobs_of_steps
from smspec.importer.definitions.tuning import tuning_jobs
from smspec.importer.definitions.variables import DefinitionVariables
from smspec.importer.imported import RequestNotFound
from smspec.importer.sources.ack import GROUP
from smspec.service.members import member, structure

_KINDS = ("HyperParameterTuningJob", "Pipeline")


def detect(data: dict[str, object]) -> bool:
    return str(data.get("apiVersion")).startswith(GROUP) and data.get("kind") in _KINDS


def jobs(data: dict[str, object], variables: DefinitionVariables) -> list[FoundJob]:
    """Return the jobs of the object."""
    if data["kind"] == _KINDS[0]:
        request = with_api_names(structure(data, "spec"))
        return tuning_jobs(request, variables, f"a {_KINDS[0]} of the ACK controller")
    try:
        definition = json.loads(str(member(data, "spec", "pipelineDefinition")))
    except (ValueError, RecursionError) as fault:
        raise RequestNotFound("the pipeline definition is not JSON") from fault
    return jobs_of_steps(structure({"": definition}, ""), variables)
