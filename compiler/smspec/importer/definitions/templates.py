"""CloudFormation and SAM templates: their functions, and the training jobs of their state machines and pipelines.

What a template says is a value, all else is a variable.
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from smspec.importer.definitions.loose_reading import NotReadable, read_json_loosely, read_yaml_loosely
from smspec.importer.definitions.pipelines import jobs_of_steps
from smspec.importer.definitions.state_machine import jobs_of_states
from smspec.importer.definitions.variables import PLACEHOLDER, Default, DefinitionVariables, FoundJob
from smspec.importer.imported import RequestNotFound
from smspec.service.shapes import member, structure

NO_VALUE = object()
"""A member that the template removes."""

_PSEUDO: dict[str, tuple[str, str | None]] = {
    "AWS::Region": ("region", None),
    "AWS::AccountId": ("account", None),
    "AWS::Partition": ("partition", "aws"),
    "AWS::URLSuffix": ("domain", "amazonaws.com"),
    "AWS::StackName": ("stack_name", None),
    "AWS::StackId": ("stack_id", None),
}
_IN_SUB = re.compile(r"\$\{(!?)([^}]{0,300})\}")
# The property that a reference to a resource is, if the template sets it.
_NAMED_BY = {"AWS::S3::Bucket": "BucketName", "AWS::ECR::Repository": "RepositoryName"}
_MOST_STEPS = 50_000
_LONGEST = 1_000_000

_MACHINES = ("AWS::StepFunctions::StateMachine", "AWS::Serverless::StateMachine")
_PIPELINE = "AWS::SageMaker::Pipeline"
_ELSEWHERE = ("DefinitionUri", "DefinitionS3Location", "PipelineDefinitionS3Location")


class TooMuch(Exception):
    """A template whose values grow beyond any request."""


class TemplateFunctions:
    """Evaluates the values of a template. ``parameters``: values that replace the defaults of its parameters."""

    def __init__(
        self, template: dict[str, object], variables: DefinitionVariables, parameters: dict[str, object] | None = None
    ) -> None:
        self._template = template
        self._variables = variables
        self._parameters = parameters or {}
        self._steps = 0
        self._functions: dict[str, Callable[[object], object]] = {
            "Ref": self._ref,
            "Fn::Sub": self._sub,
            "Fn::Join": self._join,
            "Fn::Select": self._select,
            "Fn::Split": self._split,
            "Fn::FindInMap": self._find,
            "Fn::ToJsonString": lambda value: json.dumps(self.value(value)),
        }

    def value(self, value: object) -> object:
        """Return a value with marks where the template has a function that is not known."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooMuch
        if isinstance(value, list):
            items = [self.value(item) for item in value]
            return [item for item in items if item is not NO_VALUE]
        if isinstance(value, str):
            return self._dynamic(value)
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            (name, argument), *_ = value.items()
            if name in self._functions:
                return self._functions[name](argument)
            if name.startswith("Fn::") or (name == "Condition" and isinstance(argument, str)):
                return self._unknown(name, argument)
        found = {name: self.value(inner) for name, inner in value.items()}
        return {name: inner for name, inner in found.items() if inner is not NO_VALUE}

    def text(self, value: object) -> str | None:
        """Return a value as a string; None if it is a list or mapping."""
        found = self.value(value)
        if isinstance(found, bool):
            return json.dumps(found)
        return str(found) if isinstance(found, str | int | float) else None

    def _dynamic(self, text: str) -> str:
        """Return a text with marks for references to parameters of Systems Manager and secrets."""
        if "{{resolve:" not in text:
            return text
        return re.sub(r"\{\{resolve:[^{}]{1,200}\}\}", lambda found: self._variables.mark(found[0]), text)

    def _ref(self, name: object) -> object:
        if not isinstance(name, str):
            return self._unknown("Ref", name)
        if name == "AWS::NoValue":
            return NO_VALUE
        if name in _PSEUDO:
            short, default = _PSEUDO[name]
            return self._variables.mark(name, default, name=short)
        parameter = member(self._template, "Parameters", name)
        if parameter is not None:
            given = self._parameters.get(name, member(parameter, "Default"))
            is_plain = not str(member(parameter, "Type")).startswith("AWS::SSM::")
            return self._variables.mark(name, _scalar(given) if is_plain else None, name=name)
        return self._named(name) or self._variables.mark(name, name=name)

    def _named(self, resource: str) -> str | None:
        """Return the name of a resource that the template gives it."""
        kind = str(member(self._template, "Resources", resource, "Type"))
        name = member(self._template, "Resources", resource, "Properties", _NAMED_BY.get(kind, ""))
        return None if name is None else self.text(name)

    def _sub(self, argument: object) -> object:
        template, values = (
            (argument, {})
            if not isinstance(argument, list)
            else (
                argument[0] if argument else None,
                structure({"": argument[1] if len(argument) > 1 else None}, ""),
            )
        )
        if not isinstance(template, str):
            return self._unknown("Fn::Sub", argument)

        def replaced(found: re.Match[str]) -> str:
            name = found[2].strip()
            if found[1]:
                return f"${{{name}}}"
            known = self.text(values[name]) if name in values else self._referred(name)
            return self._variables.mark(name, name=name) if known is None else known

        return self._short(self._dynamic(_IN_SUB.sub(replaced, template)))

    def _referred(self, name: str) -> str | None:
        if "." in name:
            return self._unknown("Fn::GetAtt", name)
        found = self._ref(name)
        return found if isinstance(found, str) else None

    def _join(self, argument: object) -> object:
        if isinstance(argument, list) and len(argument) == 2 and isinstance(argument[0], str):
            parts = self.value(argument[1])
            if isinstance(parts, list) and all(isinstance(part, str | int | float) for part in parts):
                return self._short(argument[0].join(map(str, parts)))
        return self._unknown("Fn::Join", argument)

    def _select(self, argument: object) -> object:
        if isinstance(argument, list) and len(argument) == 2:
            index, values = str(argument[0]), self.value(argument[1])
            if index.isdecimal() and len(index) < 4 and isinstance(values, list) and int(index) < len(values):
                return values[int(index)]
        return self._unknown("Fn::Select", argument)

    def _split(self, argument: object) -> object:
        if isinstance(argument, list) and len(argument) == 2 and isinstance(argument[0], str) and argument[0]:
            text = self.value(argument[1])
            if isinstance(text, str) and "@@" not in text:
                return text.split(argument[0])
        return self._unknown("Fn::Split", argument)

    def _find(self, argument: object) -> object:
        if isinstance(argument, list) and len(argument) >= 3:
            names = [self.text(each) for each in argument[:3]]
            if all(name is not None for name in names):
                found = member(self._template, "Mappings", *map(str, names))
                if found is not None:
                    return found
            label = ".".join(str(name) for name in (argument[0], argument[2]) if isinstance(name, str))
            return self._variables.mark(f"Fn::FindInMap {_worded(argument)}", name=label.rpartition(".")[2])
        return self._unknown("Fn::FindInMap", argument)

    def _unknown(self, function: str, argument: object) -> str:
        """Return the mark of a function that only a deployment can evaluate."""
        if function == "Fn::GetAtt":
            source = ".".join(map(str, argument)) if isinstance(argument, list) else str(argument)
            return self._variables.mark(source, name=source.replace(".", "_"))
        name = str(argument) if isinstance(argument, str) else function.rpartition("::")[2]
        return self._variables.mark(f"{function} {_worded(argument)}", name=name)

    def _short(self, text: str) -> str:
        if len(text) > _LONGEST:
            raise TooMuch
        return text


def _scalar(value: object) -> Default:
    return value if isinstance(value, str | int | float | bool) else None


def _worded(value: object) -> str:
    """Return a value as text, the same for equal values."""
    return (value if isinstance(value, str) else json.dumps(value, default=str, sort_keys=True))[:2_000]


def detect_template(data: dict[str, object]) -> bool:
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
