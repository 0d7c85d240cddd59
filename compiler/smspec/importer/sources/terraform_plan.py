"""The output of `terraform show -json`: a plan, or a state."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.importer.definitions.found_jobs import FoundJob
from smspec.importer.definitions.terraform_resources import jobs_of_resource
from smspec.importer.definitions.variables import DefinitionVariables
from smspec.service.members import items, structure


def detect(data: dict[str, object]) -> bool:
    return "terraform_version" in data and ("planned_values" in data or "values" in data)


def jobs(data: dict[str, object], variables: DefinitionVariables) -> list[FoundJob]:
    """Return the jobs of the resources. What Terraform knows only after it has applied the plan is a variable."""
    root = structure(data, "planned_values", "root_module") or structure(data, "values", "root_module")
    unknown = {
        str(change.get("address")): structure(change, "change", "after_unknown")
        for change in items(data, "resource_changes")
        if isinstance(change, dict)
    }
    found: list[FoundJob] = []
    for resource in _resources(root):
        address, kind = str(resource.get("address")), str(resource.get("type"))
        later = structure({"": _marked(unknown.get(address, {}), address, variables)}, "")
        found += jobs_of_resource(kind, address, _merged(structure(resource, "values"), later), variables)
    return found


def _resources(module: dict[str, object]) -> Iterator[dict[str, object]]:
    for resource in items(module, "resources"):
        if isinstance(resource, dict) and resource.get("mode", "managed") == "managed":
            yield resource
    for child in items(module, "child_modules"):
        yield from _resources(structure({"": child}, ""))


def _marked(value: object, path: str, variables: DefinitionVariables) -> object:
    """Return marks instead of true: the argument is known after the plan is applied."""
    if value is True:
        return variables.mark(path, name="_".join(path.split(".")[-2:]))
    if isinstance(value, dict):
        return {name: _marked(inner, f"{path}.{name}", variables) for name, inner in value.items()}
    if isinstance(value, list):
        return [_marked(inner, f"{path}[{index}]", variables) for index, inner in enumerate(value)]
    return None


def _merged(value: dict[str, object], later: dict[str, object]) -> dict[str, object]:
    merged = dict(value)
    for name, inner in later.items():
        merged[name] = _both(merged.get(name), inner)
    return merged


def _both(value: object, later: object) -> object:
    if isinstance(value, dict) and isinstance(later, dict):
        return _merged(value, later)
    if isinstance(value, list) and isinstance(later, list) and len(value) == len(later):
        return [_both(one, other) for one, other in zip(value, later, strict=True)]
    return value if later is None or value not in (None, [], {}) else later
