"""The members of the API in the spelling of other tools: in camel case or snake case, with lists for maps."""

from __future__ import annotations

import functools
import re

from smspec.service.shapes import Shape, pinned_model

# Members of a tuning job that a training job does not have, or that belong to its definition.
_OF_TUNING = (
    "HyperParameterTuningJobName",
    "HyperParameterTuningJobConfig",
    "TrainingJobDefinition",
    "TrainingJobDefinitions",
    "StaticHyperParameters",
    "HyperParameterRanges",
    "ParameterRanges",
    "IntegerParameterRanges",
    "ContinuousParameterRanges",
    "CategoricalParameterRanges",
    "AutoParameters",
    "Name",
    "Values",
    "MinValue",
    "MaxValue",
    "ScalingType",
    "ValueHint",
    "DefinitionName",
    "TuningObjective",
    "HyperParameterTuningResourceConfig",
    "InstanceConfigs",
    "AllocationStrategy",
    "Autotune",
    "WarmStartConfig",
)
_MAPS_OF_TUNING = ("StaticHyperParameters",)


def with_api_names(value: dict[str, object]) -> dict[str, object]:
    """Return a request, or a tuning job, with the names of the API.

    Names differ in case and underscores only. Maps of strings may be lists of names and values. Unknown names stay.
    """
    return {_api_name(name): _converted(_api_name(name), inner) for name, inner in value.items()}


def _converted(name: str, value: object) -> object:
    if name in _maps():
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            pairs = [{str(key).lower(): inner for key, inner in item.items()} for item in value]
            return {str(pair.get("name", pair.get("key"))): pair.get("value") for pair in pairs}
        return value
    if isinstance(value, dict):
        return with_api_names(value)
    if isinstance(value, list):
        return [with_api_names(item) if isinstance(item, dict) else item for item in value]
    return value


def _api_name(name: str) -> str:
    return _names().get(_folded(name), name)


def _folded(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())


@functools.cache
def _names() -> dict[str, str]:
    members = {member: None for shape in _structures() for member in shape.members}
    return {_folded(name): name for name in (*_OF_TUNING, *members)}


@functools.cache
def _maps() -> frozenset[str]:
    shapes = pinned_model().shapes
    found = {name for shape in _structures() for name, inner in shape.members.items() if shapes[inner].kind == "map"}
    return frozenset((*found, *_MAPS_OF_TUNING))


def _structures() -> list[Shape]:
    return [shape for shape in pinned_model().shapes.values() if shape.kind == "structure"]
