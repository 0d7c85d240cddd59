"""The job as a Kubernetes object, from which the ACK controller for SageMaker creates a training job.

``KmsKeyId`` is ``kmsKeyID`` there: the first word in lower case, initialisms in upper case. `to_ack` and `from_ack`
follow the shapes of the API model, so the keys of maps, which the author chooses, are not changed.
"""

from __future__ import annotations

import re

from smspec.render.tree import Members, Rendering, without_place
from smspec.service.shapes import Model, Shape, pinned_model
from smspec.source import Path
from smspec.spec.yaml.events import is_text_everywhere

API_VERSION = "sagemaker.services.k8s.aws/v1alpha1"
KIND = "TrainingJob"

UNKNOWN_TO_ACK: Members = frozenset(
    {
        ("AlgorithmSpecification", "ContainerArguments"),
        ("AlgorithmSpecification", "ContainerEntrypoint"),
        ("AlgorithmSpecification", "TrainingImageConfig"),
        ("ExperimentConfig", "RunName"),
        ("InputDataConfig", "DataSource", "DatasetSource"),
        ("InputDataConfig", "DataSource", "S3DataSource", "HubAccessConfig"),
        ("InputDataConfig", "DataSource", "S3DataSource", "ModelAccessConfig"),
        ("MlflowConfig",),
        ("ModelPackageConfig",),
        ("ProfilerConfig", "DisableProfiler"),
        ("ResourceConfig", "InstancePlacementConfig"),
        ("ResourceConfig", "InstancePreferences"),
        ("ResourceConfig", "TrainingPlanArn"),
        ("ServerlessJobConfig",),
        ("SessionChainingConfig",),
    }
)
"""Members for which the TrainingJob in the controller's published CRD (config/crd, v1alpha1) has no property."""

_WORD = re.compile(r"[A-Z]+[a-z0-9]*|[a-z0-9]+")
_INITIALISMS = {"Arn": "ARN", "Arns": "ARNs", "Id": "ID", "Ids": "IDs", "Kms": "KMS", "Uri": "URI", "Vpc": "VPC"}

REGION = "services.k8s.aws/region"
"""The annotation of an object with its region; without it the controller uses its own."""

_PLAIN = r"[A-Za-z][A-Za-z0-9_./-]*"


def ack(payload: dict[str, object], region: str | None = None) -> Rendering:
    """Return a TrainingJob object in YAML with all members, and a note about those that the CRD may not contain."""
    # Names of objects are lower case (Kubernetes, object names); the job keeps its own name.
    name = str(payload.get("TrainingJobName", "")).lower()
    metadata: dict[str, object] = {"name": name}
    if region is not None:
        metadata["annotations"] = {REGION: region}
    text = yaml_data({"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": to_ack(payload)})
    missing = without_place(payload, UNKNOWN_TO_ACK)
    notes = (
        (
            f"the published CRD of ACK's TrainingJob has no {', '.join(missing)}: a cluster rejects or drops"
            " them unless its CRD is newer",
        )
        if missing
        else ()
    )
    return Rendering(text=text, notes=notes)


def ack_name(member: str) -> str:
    """Return the name of an API member in an ACK object."""
    first, *rest = _WORD.findall(member)
    return "".join((first.lower(), *(_INITIALISMS.get(word, word) for word in rest)))


def to_ack(request: dict[str, object]) -> dict[str, object]:
    """Return a CreateTrainingJob request as the spec of a TrainingJob; unknown members keep their names."""
    model = pinned_model()
    return _named(model, model.root, request)


def from_ack(spec: dict[str, object]) -> tuple[dict[str, object], list[Path]]:
    """Return the request for the spec of a TrainingJob, and the paths in the spec that have no member."""
    model = pinned_model()
    unknown: list[Path] = []
    return _members(model, model.root, spec, (), unknown), unknown


def _named(model: Model, shape: Shape, value: dict[str, object]) -> dict[str, object]:
    return {
        ack_name(name) if name in shape.members else name: _renamed(model, model.shapes[shape.members[name]], inner)
        if name in shape.members
        else inner
        for name, inner in value.items()
    }


def _renamed(model: Model, shape: Shape, value: object) -> object:
    if shape.kind == "structure" and isinstance(value, dict):
        return _named(model, shape, value)
    if shape.kind == "list" and isinstance(value, list):
        return [_renamed(model, model.shapes[shape.item], item) for item in value]
    return value


def _members(
    model: Model, shape: Shape, value: dict[str, object], path: Path, unknown: list[Path]
) -> dict[str, object]:
    by_name = {ack_name(name): name for name in shape.members}
    members: dict[str, object] = {}
    for name, inner in value.items():
        member = by_name.get(name)
        if member is None:
            unknown.append((*path, name))
        else:
            members[member] = _member(model, model.shapes[shape.members[member]], inner, (*path, name), unknown)
    return members


def _member(model: Model, shape: Shape, value: object, path: Path, unknown: list[Path]) -> object:
    if shape.kind == "structure" and isinstance(value, dict):
        return _members(model, shape, value, path, unknown)
    if shape.kind == "list" and isinstance(value, list):
        item = model.shapes[shape.item]
        return [_member(model, item, inner, (*path, index), unknown) for index, inner in enumerate(value)]
    return value


def yaml_data(data: object) -> str:
    """Return data as block YAML in the order of its keys; strings are quoted unless they are plain words."""
    import yaml  # imported late, with the class below: only one target needs it

    class Writer(yaml.SafeDumper):
        def ignore_aliases(self, _data: object) -> bool:
            return True

    def text(writer: yaml.SafeDumper, value: str) -> yaml.Node:
        is_plain = re.fullmatch(_PLAIN, value) is not None and is_text_everywhere(value)
        return writer.represent_scalar("tag:yaml.org,2002:str", value, style=None if is_plain else '"')

    Writer.add_representer(str, text)
    written: str = yaml.dump(
        data, Dumper=Writer, sort_keys=False, allow_unicode=True, default_flow_style=False, width=2**31 - 1
    )
    return written
