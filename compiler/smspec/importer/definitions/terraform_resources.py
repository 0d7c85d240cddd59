"""The training jobs of Terraform resources, from their arguments."""

from __future__ import annotations

from smspec.importer.definitions.found_jobs import FoundJob
from smspec.importer.definitions.loose_reading import NotReadable, read_json_loosely
from smspec.importer.definitions.pipelines import is_pipeline, jobs_of_steps
from smspec.importer.definitions.state_machine import jobs_of_states
from smspec.importer.definitions.variables import DefinitionVariables
from smspec.importer.imported import Imported, NotImported
from smspec.importer.marks import holds_mark
from smspec.render.terraform import argument
from smspec.service.shapes import Shape, pinned_model
from smspec.source import Path

JOB = "aws_sagemaker_training_job"
DEFINITIONS = {
    "aws_sfn_state_machine": "definition",
    "awscc_stepfunctions_state_machine": "definition_string",
    "aws_sagemaker_pipeline": "pipeline_definition",
}
# Arguments of Terraform itself, and what the provider computes.
_OF_TERRAFORM = (
    *("id", "arn", "tags_all", "timeouts", "count", "for_each", "depends_on", "lifecycle", "provider"),
    *("training_job_arn", "training_job_status"),
)


def jobs_of_resource(
    kind: str, address: str, arguments: dict[str, object], variables: DefinitionVariables
) -> list[FoundJob]:
    """Return the jobs of a resource; ``address`` is what Terraform calls it."""
    name = address.rpartition(".")[2]
    if kind == JOB:
        return [FoundJob(name, address, lambda: _job(name, arguments))]
    definition = arguments.get(DEFINITIONS.get(kind, ""))
    if not isinstance(definition, str):
        return []
    try:
        data = read_json_loosely(definition)
    except NotReadable:
        return []
    if isinstance(data, dict) and is_pipeline(data):
        return jobs_of_steps(data, variables, address)
    return jobs_of_states(data, variables, is_deployed=True, beside=address)


def _job(name: str, arguments: dict[str, object]) -> Imported:
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
        form=f"a resource of Terraform, {JOB}",
        request=request,
        not_imported=tuple(NotImported(path, why) for path in unknown),
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
