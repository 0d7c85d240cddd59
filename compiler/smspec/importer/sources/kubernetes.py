"""Objects of Kubernetes that are training jobs or contain some: of the ACK controller, and of the operator before it.

Their members are those of the API in camel case; in a tuning job, lists stand for maps.
"""

from __future__ import annotations

import functools
import json
import re

from smspec.importer.definitions.pipelines import jobs_of_steps
from smspec.importer.definitions.tuning import tuning_jobs
from smspec.importer.definitions.variables import DefinitionVariables, FoundJob
from smspec.importer.imported import Imported, NotImported, RequestNotFound
from smspec.render.ack import REGION, from_ack
from smspec.service.shapes import Shape, items, member, pinned_model, structure
from smspec.source.frozen import replace

GROUP = "sagemaker.services.k8s.aws/"
KIND = "TrainingJob"

_KINDS = ("HyperParameterTuningJob", "Pipeline")

_OPERATOR = "sagemaker.aws.amazon.com/"
_TUNING = "HyperparameterTuningJob"

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


def detect_ack(data: dict[str, object]) -> bool:
    return _is_of_the_controller(data) or (
        data.get("kind") == "List" and any(_is_of_the_controller(item) for item in items(data, "items"))
    )


def jobs_of_ack(data: dict[str, object], _variables: DefinitionVariables) -> list[FoundJob]:
    """Return the jobs of an object or a list."""
    if data.get("kind") != "List":
        return [_found(data, ())]
    inner = items(data, "items")
    objects = [item for item in inner if isinstance(item, dict) and item.get("kind") == KIND]
    others = ("other objects of the list",) if len(inner) > 1 else ()
    return [_found(item, others) for item in objects]


def _found(data: dict[str, object], others: tuple[str, ...]) -> FoundJob:
    return FoundJob(str(member(data, "metadata", "name") or ""), "", lambda: _to_request(data, others))


def _to_request(data: dict[str, object], others: tuple[str, ...]) -> Imported:
    """Return the request that the controller makes from the object."""
    if data.get("kind") != KIND:
        raise RequestNotFound(f"an object of kind `{data.get('kind')}`; expected {KIND}")
    request, unknown = from_ack(structure(data, "spec"))
    hosts = structure(request, "ResourceConfig")
    if hosts.get("InstanceCount") == 0 and items(hosts, "InstanceGroups"):
        del hosts["InstanceCount"]  # the controller copies the response, which has 0 for an unset number
    why = f"the API model of {pinned_model().date} has no member for this ACK field"
    region = member(data, "metadata", "annotations", REGION)
    return Imported(
        form=f"a {KIND} of the ACK controller",
        request=request,
        not_imported=tuple(NotImported(("spec", *path), why) for path in unknown),
        left_out=(*(name for name in data if name not in ("apiVersion", "kind", "spec")), *others),
        region=region if isinstance(region, str) else None,
        stem=str(member(data, "metadata", "name") or ""),
    )


def _is_of_the_controller(value: object) -> bool:
    return str(member(value, "apiVersion")).startswith(GROUP)


def detect_ack_definitions(data: dict[str, object]) -> bool:
    return str(data.get("apiVersion")).startswith(GROUP) and data.get("kind") in _KINDS


def jobs_of_ack_definitions(data: dict[str, object], variables: DefinitionVariables) -> list[FoundJob]:
    """Return the jobs of the object."""
    if data["kind"] == _KINDS[0]:
        request = with_api_names(structure(data, "spec"))
        return tuning_jobs(request, variables, f"a {_KINDS[0]} of the ACK controller")
    try:
        definition = json.loads(str(member(data, "spec", "pipelineDefinition")))
    except (ValueError, RecursionError) as fault:
        raise RequestNotFound("the pipeline definition is not JSON") from fault
    return jobs_of_steps(structure({"": definition}, ""), variables)


def detect_operator(data: dict[str, object]) -> bool:
    return str(data.get("apiVersion")).startswith(_OPERATOR)


def jobs_of_operator(data: dict[str, object], variables: DefinitionVariables) -> list[FoundJob]:
    """Return the jobs of an object."""
    kind = str(data.get("kind"))
    if kind.lower() not in (_TUNING.lower(), "trainingjob"):
        raise RequestNotFound(f"an object of kind `{kind}`; expected TrainingJob or {_TUNING}")
    spec = dict(structure(data, "spec"))
    region = spec.pop("region", None)
    request = with_api_names({name: value for name, value in spec.items() if name != "sageMakerEndpoint"})
    stem = str(member(data, "metadata", "name") or "")
    more = tuple(name for name in data if name not in ("apiVersion", "kind", "spec"))
    more += tuple(name for name in ("sageMakerEndpoint",) if name in spec)

    def placed(found: Imported) -> Imported:
        return replace(
            found,
            region=region if isinstance(region, str) else None,
            stem=found.stem or stem,
            left_out=(*found.left_out, *more),
        )

    def of_a_tuning(job: FoundJob) -> FoundJob:
        return replace(job, imported=lambda: placed(job.imported()))

    if kind != "TrainingJob":
        form = f"a {_TUNING} of the SageMaker operator for Kubernetes"
        return [of_a_tuning(job) for job in tuning_jobs(request, variables, form)]
    members = pinned_model().root.members
    unknown = [name for name in request if name not in members]
    why = f"the API model of {pinned_model().date} has no such member"
    found = Imported(
        form="a TrainingJob of the SageMaker operator for Kubernetes",
        request={name: value for name, value in request.items() if name in members},
        not_imported=tuple(NotImported(("spec", name), why) for name in unknown),
    )
    return [FoundJob(stem, stem, lambda: placed(found))]


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
