"""A state machine of Step Functions, one of its states, or the output of DescribeStateMachine."""

from __future__ import annotations

import json

from smspec.importer.definitions.found_jobs import FoundJob
from smspec.importer.definitions.state_machine import creates_a_job, jobs_of_states
from smspec.importer.definitions.variables import DefinitionVariables
from smspec.importer.imported import RequestNotFound


def detect(data: dict[str, object]) -> bool:
    is_machine = _is_description(data) or isinstance(data.get("States"), dict)
    return is_machine or creates_a_job(data, DefinitionVariables())


def jobs(data: dict[str, object], variables: DefinitionVariables) -> list[FoundJob]:
    """Return the jobs of the states; what is known only while the state machine runs is a variable."""
    if not _is_description(data):
        return jobs_of_states(data, variables)
    try:
        definition = json.loads(str(data["definition"]))
    except (ValueError, RecursionError) as fault:
        raise RequestNotFound("the state machine definition is not JSON") from fault
    return jobs_of_states(definition, variables, is_deployed=True)


def _is_description(data: dict[str, object]) -> bool:
    """Return whether this is the response of DescribeStateMachine, which contains the state machine as a string."""
    return "stateMachineArn" in data and isinstance(data.get("definition"), str)
