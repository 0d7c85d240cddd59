"""The state machines and pipelines of a CloudFormation or SAM template, and their training jobs."""

from __future__ import annotations

import json
from collections.abc import Iterator

from smspec.importer.definitions.found_jobs import FoundJob
from smspec.importer.definitions.loose_reading import NotReadable, read_json_loosely, read_yaml_loosely
from smspec.importer.definitions.pipelines import jobs_of_steps
from smspec.importer.definitions.state_machine import jobs_of_states
from smspec.importer.definitions.template_functions import TemplateFunctions, TooMuch
from smspec.importer.definitions.variables import PLACEHOLDER, DefinitionVariables
from smspec.importer.imported import RequestNotFound
from smspec.service.members import member, structure

_MACHINES = ("AWS::StepFunctions::StateMachine", "AWS::Serverless::StateMachine")
_PIPELINE = "AWS::SageMaker::Pipeline"
_ELSEWHERE = ("DefinitionUri", "DefinitionS3Location", "PipelineDefinitionS3Location")


def is_template(data: dict[str, object]) -> bool:
    """Return whether a mapping is a CloudFormation template."""
    resources = structure(data, "Resources")
    return bool(resources) and (
        "AWSTemplateFormatVersion" in data or any("::" in str(member(each, "Type")) for each in resources.values())
    )


def jobs_of_template(
    template: dict[str, object], variables: DefinitionVariables, parameters: dict[str, object] | None = None
) -> list[FoundJob]:
    """Return the jobs of a template. ``parameters``: their values, instead of the defaults of the template.

    Raise `RequestNotFound` if it has none, and a definition is in a different file.
    """
    functions = TemplateFunctions(template, variables, parameters)
    elsewhere: list[str] = []
    try:
        found = list(_jobs(template, functions, variables, elsewhere))
    except TooMuch as fault:
        raise RequestNotFound("the values of the template are too large") from fault
    if not found and elsewhere:
        raise RequestNotFound(f"a definition is not in the template: {'; '.join(elsewhere[:5])}; pass that file")
    return found


def _jobs(
    template: dict[str, object], functions: TemplateFunctions, variables: DefinitionVariables, elsewhere: list[str]
) -> Iterator[FoundJob]:
    for name, resource in structure(template, "Resources").items():
        kind, properties = member(resource, "Type"), structure(resource, "Properties")
        if kind not in (*_MACHINES, _PIPELINE):
            continue
        holder = structure(properties, "PipelineDefinition") if kind == _PIPELINE else properties
        for key in _ELSEWHERE:
            if key in holder:
                elsewhere.append(f"`{name}` has `{key}: {_told(functions.value(holder[key]), variables)}`")
        if kind == _PIPELINE:
            body = holder.get("PipelineDefinitionBody", properties.get("PipelineDefinition"))
            definition = _parsed(functions.value(body))
            if isinstance(definition, dict):
                yield from jobs_of_steps(definition, variables, name)
        else:
            definition = _machine(properties, functions, variables)
            if definition is not None:
                yield from jobs_of_states(definition, variables, is_deployed=True, beside=name)


def _machine(properties: dict[str, object], functions: TemplateFunctions, variables: DefinitionVariables) -> object:
    given = structure(properties, "DefinitionSubstitutions")
    values = {name: functions.text(value) for name, value in given.items()}
    definition = _parsed(functions.value(properties.get("DefinitionString", properties.get("Definition"))))
    return _substituted(definition, values, variables)


def _parsed(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return read_json_loosely(value)
    except NotReadable:
        try:
            return next(iter(read_yaml_loosely(value)), None)
        except NotReadable:
            return None


def _substituted(value: object, values: dict[str, str | None], variables: DefinitionVariables) -> object:
    """Replace ``${Name}`` by its value in `DefinitionSubstitutions`; a number takes the place of a whole string."""
    if isinstance(value, dict):
        return {
            str(_substituted(name, values, variables)): _substituted(inner, values, variables)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_substituted(item, values, variables) for item in value]
    if not isinstance(value, str):
        return value
    return PLACEHOLDER.sub(lambda found: str(values.get(found[1]) or found[0]), value)


def _told(value: object, variables: DefinitionVariables) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return variables.with_defaults(text)[:200]
