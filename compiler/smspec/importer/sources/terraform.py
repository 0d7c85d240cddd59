"""The output of `terraform show -json`, of a plan or a state: resources that are training jobs, or that start them.

https://developer.hashicorp.com/terraform/internals/json-format
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from smspec.importer.definitions.loose_reading import NotReadable, read_json_loosely
from smspec.importer.definitions.pipelines import is_pipeline, jobs_of_steps
from smspec.importer.definitions.state_machine import jobs_of_states
from smspec.importer.definitions.variables import DefinitionVariables, FoundJob, shortened
from smspec.importer.imported import Imported, NotImported, RequestNotFound
from smspec.importer.marks import holds_mark, is_mark
from smspec.render.terraform import argument
from smspec.service.shapes import Shape, pinned_model
from smspec.source import Path, dotted
from smspec.source.frozen import dataclass, replace

FOR_A_PLAN = "run `terraform plan -out plan`, then `terraform show -json plan | smspec import -`"
_FOR_A_STATE = "`terraform show -json | smspec import -`"

_JOB = "aws_sagemaker_training_job"
_DEFINITIONS = {
    "aws_sfn_state_machine": "definition",
    "awscc_stepfunctions_state_machine": "definition_string",
    "aws_sagemaker_pipeline": "pipeline_definition",
}
# Arguments of Terraform itself, and what the provider computes.
_OF_TERRAFORM = (
    *("id", "arn", "tags_all", "timeouts", "count", "for_each", "depends_on", "lifecycle", "provider"),
    *("training_job_arn", "training_job_status"),
)
_NO_VARIABLES: tuple[Path, ...] = (("training_job_name",), ("region",))
_MAJOR_VERSIONS = ("0", "1")
_SENSITIVE = "Terraform marks it as sensitive"
_LATER = f"it is known only after `terraform apply`; then run {_FOR_A_STATE}"
_MOST_LISTED = 5


def detect_terraform(data: dict[str, object]) -> bool:
    """Return whether this is a plan or state: also an empty state, which has only a version, and terraform.tfstate."""
    is_of_terraform = "format_version" in data or "terraform_version" in data
    has_parts = not data.keys().isdisjoint(("planned_values", "values", "lineage"))
    return data.keys() == {"format_version"} or (is_of_terraform and has_parts)


def jobs_of_terraform(data: dict[str, object], variables: DefinitionVariables) -> list[FoundJob]:
    """Return the jobs of the resources. What Terraform knows only after it has applied a plan is a variable."""
    key = "planned_values" if "planned_values" in data else "values"
    if "lineage" in data and key not in data:
        raise RequestNotFound(f"a state file of Terraform, in its private format: run {_FOR_A_STATE}")
    version = data.get("format_version", "1.0")
    if not isinstance(version, str) or version.partition(".")[0] not in _MAJOR_VERSIONS:
        raise RequestNotFound(f"`format_version` is {shortened(json.dumps(version))}; smspec reads versions 0 and 1")
    changes = _changes(data)
    found: list[FoundJob] = []
    unread: dict[str, str] = {}
    for resource in _resources(_mapping(_mapping(data, key), "root_module", (key,)), (key, "root_module"), ""):
        if resource.kind == _JOB:
            found.append(_training_job(resource, changes.get(resource.address, _Change()), variables))
        elif resource.kind in _DEFINITIONS:
            found += _started(resource, changes.get(resource.address, _Change()), variables, unread)
    if unread and not found:
        raise RequestNotFound("; ".join(f"`{place}`: {why}" for place, why in [*unread.items()][:_MOST_LISTED]))
    return [replace(job, imported=_without(unread, job.imported)) for job in found]


def _without(unread: dict[str, str], imported: Callable[[], Imported]) -> Callable[[], Imported]:
    """Return a job that names the definitions that have no value: they may start more jobs."""
    others = tuple(f"`{place}`, which cannot be read" for place in [*unread][:_MOST_LISTED])
    return lambda: replace(job := imported(), left_out=(*job.left_out, *others))


@dataclass(frozen=True, slots=True)
class _Resource:
    """``name``: with its key, if it is one of several; ``address``: the absolute one."""

    kind: str
    name: str
    address: str
    values: dict[str, object]
    sensitive: object


@dataclass(frozen=True, slots=True)
class _Change:
    """What a plan says about the values of a resource: which are unknown, and which are sensitive."""

    unknown: object = None
    sensitive: object = None


def _resources(module: dict[str, object], path: Path, inside: str) -> Iterator[_Resource]:
    """Yield the managed resources of a module and of those inside. Old versions write addresses without the module."""
    for index, each in enumerate(_list(module, "resources", path)):
        here = (*path, "resources", index)
        resource = _as_mapping(each, here)
        kind = resource.get("type")
        if (
            kind not in (_JOB, *_DEFINITIONS)
            or resource.get("mode", "managed") != "managed"
            or "deposed_key" in resource
        ):
            continue
        name, key = str(resource.get("name")), resource.get("index")
        address = str(resource.get("address") or f"{kind}.{name}")
        if inside and not address.startswith(f"{inside}."):
            address = f"{inside}.{address}"
        if isinstance(key, int | str):
            name = f"{name}-{key}"
            address = address if address.endswith("]") else f"{address}[{json.dumps(key, ensure_ascii=False)}]"
        yield _Resource(str(kind), name, address, _mapping(resource, "values", here), resource.get("sensitive_values"))
    for index, each in enumerate(_list(module, "child_modules", path)):
        here = (*path, "child_modules", index)
        child = _as_mapping(each, here)
        yield from _resources(child, here, str(child.get("address") or inside))


def _changes(data: dict[str, object]) -> dict[str, _Change]:
    found: dict[str, _Change] = {}
    for index, each in enumerate(_list(data, "resource_changes", ())):
        here = ("resource_changes", index)
        resource = _as_mapping(each, here)
        if "deposed" not in resource:
            change = _mapping(resource, "change", here)
            found[str(resource.get("address"))] = _Change(change.get("after_unknown"), change.get("after_sensitive"))
    return found


def _mapping(value: dict[str, object], name: str, path: Path = ()) -> dict[str, object]:
    return _as_mapping(value.get(name), (*path, name))


def _as_mapping(value: object, path: Path) -> dict[str, object]:
    if value is not None and not isinstance(value, dict):
        raise RequestNotFound(f"`{dotted(path)}` is not a mapping")
    return value or {}


def _list(value: dict[str, object], name: str, path: Path) -> list[object]:
    found = value.get(name)
    if found is not None and not isinstance(found, list):
        raise RequestNotFound(f"`{dotted((*path, name))}` is not a list")
    return found or []


class _Values:
    """The values of a resource without those that are sensitive, and with marks for those that are unknown."""

    def __init__(self, resource: _Resource, change: _Change, variables: DefinitionVariables) -> None:
        self.lost: list[NotImported] = []
        self._resource = resource
        self._variables = variables
        values: object = resource.values
        for flags in (resource.sensitive, change.sensitive):
            values = self._hidden(values, flags, ())
        known = self._completed(values, change.unknown, ())
        self.known = known if isinstance(known, dict) else {}

    def _hidden(self, value: object, flags: object, path: Path) -> object:
        """Return a value with marks for texts and numbers that are sensitive, and None for other sensitive parts.

        Flags of a different shape than the value hide all of it.
        """
        if value is None or is_mark(value) or not _is_any_set(flags):
            return value
        if isinstance(value, dict) and isinstance(flags, dict):
            return {name: self._hidden(inner, flags.get(name), (*path, name)) for name, inner in value.items()}
        if isinstance(value, list) and isinstance(flags, list) and len(value) == len(flags):
            pairs = zip(value, flags, strict=True)
            return [self._hidden(inner, flag, (*path, index)) for index, (inner, flag) in enumerate(pairs)]
        if isinstance(value, dict | list) or path in _NO_VARIABLES:
            self.lost.append(NotImported(path or (self._resource.address,), _SENSITIVE))
            return None
        self.lost.append(NotImported(path, f"{_SENSITIVE}; set its variable"))
        return self._mark(path, ", which Terraform marks as sensitive")

    def _completed(self, value: object, unknown: object, path: Path) -> object:
        if unknown is True and path:
            is_needed = value in (None, [], {}) and path[0] not in _OF_TERRAFORM
            return self._mark(path) if is_needed else value
        if isinstance(unknown, dict) and isinstance(value, dict | None):
            inner = {name: (value or {}).get(name) for name in (*(value or {}), *unknown)}
            known = {name: self._completed(each, unknown.get(name), (*path, name)) for name, each in inner.items()}
            return known or value
        if isinstance(unknown, list) and isinstance(value, list) and len(value) == len(unknown):
            pairs = zip(value, unknown, strict=True)
            return [self._completed(inner, each, (*path, index)) for index, (inner, each) in enumerate(pairs)]
        return value

    def _mark(self, path: Path, why: str = "") -> str:
        place = f"{self._resource.address}.{dotted(path)}"
        words = [self._resource.name, *(step for step in path if isinstance(step, str))][-2:]
        number = [str(step) for step in path[-1:] if isinstance(step, int)]
        name = "_".join((*words, *number))
        return self._variables.mark(place, name=name, description=f"`{shortened(place)}` of the source{why}")


def _is_any_set(flags: object) -> bool:
    if isinstance(flags, dict):
        return any(map(_is_any_set, flags.values()))
    if isinstance(flags, list):
        return any(map(_is_any_set, flags))
    return flags is not None and flags is not False


def _started(
    resource: _Resource, change: _Change, variables: DefinitionVariables, unread: dict[str, str]
) -> list[FoundJob]:
    """Return the jobs that a state machine or pipeline starts; add its definition to ``unread`` if it has no value."""
    member = _DEFINITIONS[resource.kind]
    place = f"{resource.address}.{member}"
    for flags in (resource.sensitive, change.sensitive):
        if _is_any_set(flags.get(member) if isinstance(flags, dict) else flags):
            unread[place] = _SENSITIVE
            return []
    definition = resource.values.get(member)
    if definition is None and isinstance(change.unknown, dict) and change.unknown.get(member) is True:
        unread[place] = _LATER
        return []
    if resource.values.get("pipeline_definition_s3_location"):
        unread[place] = "it is in S3, at `pipeline_definition_s3_location`; import that file"
    if not isinstance(definition, str):
        return []
    try:
        data = read_json_loosely(definition)
    except NotReadable:
        unread[place] = "it is not JSON"
        return []
    if isinstance(data, dict) and is_pipeline(data):
        return jobs_of_steps(data, variables, resource.address)
    return jobs_of_states(data, variables, is_deployed=True, beside=resource.address)


def _training_job(resource: _Resource, change: _Change, variables: DefinitionVariables) -> FoundJob:
    def imported() -> Imported:
        values = _Values(resource, change, variables)
        return _imported(resource.name, values.known, values.lost)

    return FoundJob(resource.name, resource.address, imported)


def _imported(name: str, arguments: dict[str, object], lost: list[NotImported]) -> Imported:
    unknown: list[Path] = []
    given = {key: value for key, value in arguments.items() if key not in (*_OF_TERRAFORM, "tags", "region")}
    request = _members(pinned_model().root, given, (), unknown)
    tags = arguments.get("tags")
    if isinstance(tags, dict) and tags:
        request["Tags"] = [{"Key": key, "Value": value} for key, value in tags.items()]
    elif isinstance(tags, str):
        request["Tags"] = tags
    region = arguments.get("region")
    why = f"the API model of {pinned_model().date} has no member for this argument"
    return Imported(
        form=f"a resource of Terraform, {_JOB}",
        request=request,
        not_imported=(*lost, *(NotImported(path, why) for path in unknown)),
        left_out=tuple(key for key in arguments if key in _OF_TERRAFORM and key != "id"),
        region=region if isinstance(region, str) and not holds_mark(region) else None,
        stem=name,
    )


def _members(shape: Shape, value: dict[str, object], path: Path, unknown: list[Path]) -> dict[str, object]:
    by_argument = {argument(member): member for member in shape.members}
    found: dict[str, object] = {}
    for name, inner in value.items():
        member = by_argument.get(name)
        if inner is None:
            continue
        if member is None:
            unknown.append((*path, name))
            continue
        kept = _member(pinned_model().shapes[shape.members[member]], inner, (*path, name), unknown)
        if kept is not None:
            found[member] = kept
    return found


def _member(shape: Shape, value: object, path: Path, unknown: list[Path]) -> object:
    """Return the value of a member; None for an unset block of a plan."""
    if shape.kind == "structure":
        block = value[0] if isinstance(value, list) and value else value
        return _members(shape, block, path, unknown) if isinstance(block, dict) else None if block == [] else block
    if shape.kind == "list" and isinstance(value, list):
        item = pinned_model().shapes[shape.item]
        if item.kind != "structure":
            return value
        blocks = [_members(item, each, path, unknown) if isinstance(each, dict) else each for each in value]
        return blocks or None
    return value
