"""The functions of CloudFormation templates: what a template says is a value, all else is a variable.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from smspec.importer.definitions.variables import Default, DefinitionVariables
from smspec.service.members import member, structure

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
            return self._variables.mark(f"Fn::FindInMap {_told(argument)}", name=label.rpartition(".")[2])
        return self._unknown("Fn::FindInMap", argument)

    def _unknown(self, function: str, argument: object) -> str:
        """Return the mark of a function that only a deployment can evaluate."""
        if function == "Fn::GetAtt":
            source = ".".join(map(str, argument)) if isinstance(argument, list) else str(argument)
            return self._variables.mark(source, name=source.replace(".", "_"))
        name = str(argument) if isinstance(argument, str) else function.rpartition("::")[2]
        return self._variables.mark(f"{function} {_told(argument)}", name=name)

    def _short(self, text: str) -> str:
        if len(text) > _LONGEST:
            raise TooMuch
        return text


def _scalar(value: object) -> Default:
    return value if isinstance(value, str | int | float | bool) else None


def _told(value: object) -> str:
    """Return a value as text, the same for equal values."""
    return (value if isinstance(value, str) else json.dumps(value, default=str, sort_keys=True))[:2_000]
