"""A TrainingJob of the ACK controller for SageMaker: a Kubernetes object whose spec is a request in camel case."""

from __future__ import annotations

from smspec.importer.definitions.found_jobs import FoundJob
from smspec.importer.definitions.variables import DefinitionVariables
from smspec.importer.imported import Imported, NotImported, RequestNotFound
from smspec.render.ack import REGION, from_ack
from smspec.service.members import items, member, structure
from smspec.service.shapes import pinned_model

GROUP = "sagemaker.services.k8s.aws/"
KIND = "TrainingJob"


def detect(data: dict[str, object]) -> bool:
    return _is_of_the_controller(data) or (
        data.get("kind") == "List" and any(_is_of_the_controller(item) for item in items(data, "items"))
    )


def jobs(data: dict[str, object], _variables: DefinitionVariables) -> list[FoundJob]:
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
