"""The values of a Terraform configuration: what it contains, with marks for what only Terraform knows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from smspec.importer.definitions.variables import Default, DefinitionVariables
from smspec.importer.hcl.parsing import Body, Call, Entries, Expression, Listed, Literal, Reference, Template

_KNOWN_DATA: dict[tuple[str, str], tuple[str, str | None]] = {
    ("aws_region", "name"): ("region", None),
    ("aws_region", "id"): ("region", None),
    ("aws_region", "region"): ("region", None),
    ("aws_caller_identity", "account_id"): ("account", None),
    ("aws_partition", "partition"): ("partition", "aws"),
}
_MOST_STEPS = 100_000
_MOST_DEPTH = 40
_LONGEST = 2_000_000


class TooMuch(Exception):
    """A configuration whose values grow beyond any request."""


class Configuration:
    """The blocks of a file, and the values of its expressions."""

    def __init__(self, body: Body, variables: DefinitionVariables) -> None:
        self._variables = variables
        self._steps = 0
        self._defaults: dict[str, Expression | None] = {}
        self._locals: dict[str, Expression] = {}
        self.resources: dict[tuple[str, str], Body] = {}
        for kind, labels, inner in body.blocks:
            if kind == "variable" and labels:
                self._defaults[labels[0]] = inner.attributes.get("default")
            elif kind == "locals":
                self._locals.update(inner.attributes)
            elif kind == "resource" and len(labels) == 2:
                self.resources[labels[0], labels[1]] = inner

    def arguments(self, body: Body) -> dict[str, object]:
        """Return the arguments of a resource; blocks are lists of mappings."""
        found = {name: self.value(value) for name, value in body.attributes.items()}
        for kind, labels, inner in body.blocks:
            if not labels:
                listed = found.setdefault(kind, [])
                if isinstance(listed, list):
                    listed.append(self.arguments(inner))
        return found

    def value(self, expression: Expression, depth: int = 0) -> object:
        """Return a value as JSON with marks."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooMuch
        if isinstance(expression, Literal):
            return expression.value
        if depth <= _MOST_DEPTH:
            if isinstance(expression, Template):
                return self._joined(expression, depth)
            if isinstance(expression, Listed):
                return [self.value(item, depth + 1) for item in expression.items]
            if isinstance(expression, Entries):
                return {self.text(name, depth + 1): self.value(inner, depth + 1) for name, inner in expression.entries}
            if isinstance(expression, Reference):
                return self._referred(expression, depth)
            if isinstance(expression, Call):
                return self._called(expression, depth)
        text = getattr(expression, "text", "value")
        return self._variables.mark(text)

    def text(self, expression: Expression, depth: int = 0) -> str:
        """Return a value as a part of a string."""
        value = self.value(expression, depth)
        return value if isinstance(value, str) else json.dumps(value)

    def _joined(self, template: Template, depth: int) -> object:
        parts = [part for part in template.parts if part != Literal("")]
        if len(parts) == 1:
            return self.value(parts[0], depth + 1)
        return self._short("".join(self.text(part, depth + 1) for part in parts))

    def _referred(self, reference: Reference, depth: int) -> object:
        first, *steps = reference.steps
        if first == "var" and steps:
            return self._variable(reference, steps, depth)
        if first == "local" and steps and steps[0] in self._locals:
            found = self.value(self._locals[steps[0]], depth + 1)
            return self._step(found, steps[1:], reference)
        if first == "data" and len(steps) >= 3:
            short, default = _KNOWN_DATA.get((steps[0], steps[2]), ("", None))
            return self._variables.mark(short or reference.text, default, name=short or "_".join(steps[1:]))
        if len(steps) >= 2 and (first, steps[0]) in self.resources:
            resource = self.resources[first, steps[0]]
            name = "bucket" if first == "aws_s3_bucket" and steps[1] == "id" else steps[1]
            if name in resource.attributes:
                return self._step(self.value(resource.attributes[name], depth + 1), steps[2:], reference)
        return self._variables.mark(reference.text, name="_".join(steps) or first)

    def _variable(self, reference: Reference, steps: list[str], depth: int) -> object:
        default = self._defaults.get(steps[0])
        value = None if default is None else self.value(default, depth + 1)
        if isinstance(value, dict | list):
            return self._step(value, steps[1:], reference)
        if steps[1:]:
            return self._variables.mark(reference.text, name="_".join(steps))
        return self._variables.mark(reference.text, _scalar(value), name=steps[0])

    def _step(self, value: object, steps: list[str], reference: Reference) -> object:
        for step in steps:
            if isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, list) and step.isdecimal() and len(step) < 5 and int(step) < len(value):
                value = value[int(step)]
            else:
                return self._variables.mark(reference.text, name="_".join(reference.steps[1:]))
        return value

    def _called(self, call: Call, depth: int) -> object:
        arguments = [self.value(argument, depth + 1) for argument in call.arguments]
        found = _applied(call.function, arguments)
        if found is None:
            name = next(iter(re.findall(r"\w+", call.text[len(call.function) :])), call.function)
            return self._variables.mark(call.text, name=name)
        return self._short(found) if isinstance(found, str) else found

    def _short(self, text: str) -> str:
        if len(text) > _LONGEST:
            raise TooMuch
        return text

    def file_of(self, expression: Expression | None) -> str | None:
        """Return the path of the file that an expression reads; None if it reads none."""
        if isinstance(expression, Reference) and expression.steps[0] == "local" and len(expression.steps) == 2:
            expression = self._locals.get(expression.steps[1])
        if isinstance(expression, Call) and expression.function in ("file", "templatefile") and expression.arguments:
            path = self.text(expression.arguments[0])
            return re.sub(r"@@smspec:[a-z0-9_]+@@/?", "", path)
        return None


def _applied(function: str, arguments: list[object]) -> object:
    """Return what a function of Terraform gives for known arguments; None if that is unknown."""
    if function in ("jsonencode", "jsondecode", "tostring", "tonumber", "tolist", "tomap", "trimspace"):
        return _converted(function, arguments[0]) if len(arguments) == 1 else None
    if function == "join" and len(arguments) == 2 and isinstance(arguments[1], list):
        parts = list(_texts(arguments[1]))
        return str(arguments[0]).join(parts) if len(parts) == len(arguments[1]) else None
    if function == "format" and arguments and isinstance(arguments[0], str):
        pieces = re.split("%[sdv]", arguments[0])
        parts = list(_texts(arguments[1:]))
        if len(pieces) != len(parts) + 1 or "%" in "".join(pieces):
            return None
        return pieces[0] + "".join(part + piece for part, piece in zip(parts, pieces[1:], strict=True))
    if function == "merge" and all(isinstance(argument, dict) for argument in arguments):
        return {name: value for each in arguments if isinstance(each, dict) for name, value in each.items()}
    if function == "concat" and all(isinstance(argument, list) for argument in arguments):
        return [value for each in arguments if isinstance(each, list) for value in each]
    return None


def _converted(function: str, value: object) -> object:
    if function == "jsonencode":
        return json.dumps(value)
    if function == "jsondecode":
        try:
            return json.loads(value) if isinstance(value, str) else None
        except (ValueError, RecursionError):
            return None
    if function == "tostring" and isinstance(value, bool | int | float):
        return json.dumps(value)
    return value.strip() if function == "trimspace" and isinstance(value, str) else value


def _texts(values: list[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, bool | int | float):
            yield json.dumps(value)


def _scalar(value: object) -> Default:
    return value if isinstance(value, str | int | float | bool) else None
