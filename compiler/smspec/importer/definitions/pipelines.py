"""A SageMaker pipeline, as a definition, a request, or a response, and its training and tuning steps.

https://aws-sagemaker-mlops.github.io/sagemaker-model-building-pipeline-definition-JSON-schema/
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from smspec.importer.definitions.tuning import tuned_job
from smspec.importer.definitions.variables import DefinitionVariables, FoundJob
from smspec.importer.imported import Imported, RequestNotFound
from smspec.service.shapes import items, member, structure
from smspec.source import Path, dotted

_TEXT = "PipelineDefinition"

_OF_A_STEP = ("Name", "Type", "Arguments")


def detect_pipeline(data: dict[str, object]) -> bool:
    return is_pipeline(data) or isinstance(data.get(_TEXT), str)


def jobs_of_pipeline(data: dict[str, object], variables: DefinitionVariables) -> list[FoundJob]:
    """Return the jobs of the training and tuning steps."""
    if is_pipeline(data):
        return jobs_of_steps(data, variables)
    try:
        definition = json.loads(str(data[_TEXT]))
    except (ValueError, RecursionError) as fault:
        raise RequestNotFound("the pipeline definition is not JSON") from fault
    return jobs_of_steps(structure({"": definition}, ""), variables)


def is_pipeline(data: dict[str, object]) -> bool:
    """Return whether a mapping is a pipeline definition."""
    return isinstance(data.get("Steps"), list) and ("Version" in data or "Parameters" in data or "Metadata" in data)


def jobs_of_steps(data: dict[str, object], variables: DefinitionVariables, beside: str = "") -> list[FoundJob]:
    """Return the jobs of a pipeline. ``beside``: the definition's place in a template."""
    values = _Values(data, variables)

    def job(path: Path, step: dict[str, object]) -> FoundJob:
        name = variables.with_defaults(str(step.get("Name") or dotted(path)))
        return FoundJob(name, ".".join(filter(None, (beside, name))), lambda: _imported(step, values, variables, name))

    return [job(path, step) for path, step in _steps(data.get("Steps"), ("Steps",))]


def _imported(step: dict[str, object], values: _Values, variables: DefinitionVariables, name: str) -> Imported:
    arguments = structure(step, "Arguments")
    if not arguments:
        raise RequestNotFound(f"the step `{name}` has no `Arguments`")
    request = structure({"": values.known(arguments)}, "")
    left_out = (*(each for each in step if each not in _OF_A_STEP), "the rest of the pipeline")
    if step.get("Type") == "Tuning":
        return tuned_job(request, variables, "a tuning step of a SageMaker pipeline", left_out, name)
    return Imported(form="a step of a SageMaker pipeline", request=request, left_out=left_out, stem=name)


def _steps(value: object, path: Path) -> Iterator[tuple[Path, dict[str, object]]]:
    """Yield the training and tuning steps, also those of conditions."""
    for index, step in enumerate(value if isinstance(value, list) else []):
        here = (*path, index)
        if member(step, "Type") in ("Training", "Tuning"):
            yield here, step
        for branch in ("IfSteps", "ElseSteps"):
            yield from _steps(member(step, "Arguments", branch), (*here, branch))


class _Values:
    """The values of a pipeline: parameters have defaults, properties of other steps are unknown."""

    def __init__(self, data: dict[str, object], variables: DefinitionVariables) -> None:
        self._variables = variables
        self._parameters = {str(member(each, "Name")): each for each in items(data, "Parameters")}

    def known(self, value: object) -> object:
        if isinstance(value, list):
            return [self.known(item) for item in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            (name, inner), *_ = value.items()
            if name == "Get" and isinstance(inner, str):
                return self._got(inner)
            if name.startswith("Std:"):
                return self._called(name, inner)
        return {name: self.known(inner) for name, inner in value.items()}

    def _got(self, source: str) -> str:
        parameter = source.removeprefix("Parameters.")
        if parameter != source:
            default = member(self._parameters.get(parameter), "DefaultValue")
            is_scalar = isinstance(default, str | int | float)
            return self._variables.mark(source, default if is_scalar else None, name=parameter)  # type: ignore[arg-type]
        step = re.match(r"Steps\.([^.\[]+)", source)
        keys = re.findall(r"\[['\"]([^'\"]+)['\"]\]", source) or re.findall(r"\w+", source)
        return self._variables.mark(source, name=f"{step[1]}_{keys[-1]}" if step and keys else source.split(".")[-1])

    def _called(self, function: str, argument: object) -> str:
        """Return what a function of the definition gives: texts are joined, all else is a variable."""
        if function == "Std:Join":
            parts = [self.known(part) for part in items(argument, "Values")]
            if all(isinstance(part, str | int | float) for part in parts):
                return str(member(argument, "On") or "").join(map(str, parts))
        return self._variables.mark(f"{function} {argument}"[:300], name=f"{function[4:]}_value")
