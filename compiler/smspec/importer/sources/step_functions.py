"""A state machine of Step Functions, one of its states, or the output of DescribeStateMachine."""

from __future__ import annotations

import json
import re

from smspec.importer.definitions.found_jobs import FoundJob
from smspec.importer.definitions.state_machine import creates_a_job, jobs_of_states
from smspec.importer.definitions.variables import DefinitionVariables
from smspec.importer.imported import Imported, RequestNotFound
from smspec.importer.sources.alternative_states import alternatives_of


def detect(data: dict[str, object]) -> bool:
    is_machine = _is_description(data) or isinstance(data.get("States"), dict)
    return is_machine or creates_a_job(data, DefinitionVariables())


def jobs(data: dict[str, object], variables: DefinitionVariables) -> list[FoundJob]:
    """Return the jobs of the states; what is known only while the state machine runs is a variable.

    The states that `smspec render --step-functions` makes of alternatives are one job.
    """
    definition, is_deployed = (_definition(data), True) if _is_description(data) else (data, False)
    found = jobs_of_states(definition, variables, is_deployed=is_deployed)
    chain = _alternatives(found) if len(found) > 1 else None
    return found if chain is None else [FoundJob("", "", lambda: chain)]


def _alternatives(found: list[FoundJob]) -> Imported | None:
    if not all(re.fullmatch("Train[1-9]", job.name) for job in found):
        return None
    return alternatives_of([job.imported() for job in found])


def _definition(data: dict[str, object]) -> object:
    try:
        return json.loads(str(data["definition"]))
    except (ValueError, RecursionError) as fault:
        raise RequestNotFound("the state machine definition is not JSON") from fault


def _is_description(data: dict[str, object]) -> bool:
    """Return whether this is the response of DescribeStateMachine, which contains the state machine as a string."""
    return "stateMachineArn" in data and isinstance(data.get("definition"), str)
