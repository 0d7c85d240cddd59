"""The request of a program that calls `create_training_job` of boto3, with marks for what only a run of it has.

Its arguments are the members of the request, so nothing is added, and what is unknown is a variable or is listed. What
methods of its clients, and of objects of the SDK, return or change is here, too.
"""

from __future__ import annotations

from smspec.importer.imported import NotImported, slug
from smspec.importer.sdk.arguments import FRAMEWORKS, own_hyperparameters, shared_hyperparameters
from smspec.importer.sdk.images import image_of_call, is_image_call
from smspec.importer.sdk.sdk_facts import Surroundings, as_json_texts
from smspec.importer.sdk.sdk_request import Job, Launch, SdkRequest
from smspec.importer.sdk.values import Entries, SdkInstance, SdkItems, SdkText, SdkUnknown, Value
from smspec.importer.sdk.variables import MORE, NOT_KNOWN, Variables
from smspec.script.follow.values import UNKNOWN, Named
from smspec.service.shapes import Shape, pinned_model
from smspec.source import Path

CALL = "create_training_job"
UNPACKED = "**"
"""The argument that a mapping becomes of which only a run knows all entries."""

_DEEPEST = 20
_NAME = "TrainingJobName"
_IMAGE = "TrainingImage"
_SESSION = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token", "region_name")
_ARGUMENTS = {
    "RoleArn": "role",
    "InstanceType": "instance_type",
    "InstanceCount": "instance_count",
    "VolumeSizeInGB": "volume_size",
    "MaxRuntimeInSeconds": "max_run",
    "MaxWaitTimeInSeconds": "max_wait",
    "MaximumRetryAttempts": "max_retry_attempts",
    "KeepAlivePeriodInSeconds": "keep_alive_period_in_seconds",
    "S3Uri": "uri",
    "S3OutputPath": "uri",
    "KmsKeyId": "kms_key",
    "VolumeKmsKeyId": "kms_key",
    "Subnets": "subnets",
    "SecurityGroupIds": "security_group_ids",
    "TrainingInputMode": "input_mode",
    "InputMode": "input_mode",
    "S3DataDistributionType": "distribution_type",
    "FileSystemId": "file_system_id",
    _IMAGE: "image_uri",
}
"""Member → the argument of an estimator that has such a value."""


def is_request(call: SdkInstance) -> bool:
    """Return whether the arguments of a call with this name are those of the API, as far as they are known."""
    return not call.positional and (
        UNPACKED in call.arguments or bool(call.arguments.keys() & pinned_model().root.members)
    )


def requested_by(value: Value) -> dict[str, Value]:
    """Return the arguments that a request is which is given as one mapping; a wrapper of boto3 may take it so."""
    if isinstance(value, Entries) and value.is_known:
        return {str(name): inner for name, inner in value.values.items()}
    return {UNPACKED: value}


def in_a_file(path: str) -> str:
    """Return how to import a request that the program reads from a file."""
    return f"it is read from `{path}`; import that file"


def region_of(made: SdkInstance) -> Value:
    """Return the region of a client or session of boto3, as the program sets it; None if it does not."""
    order = ("service_name", "region_name") if made.kind.endswith(".client") else _SESSION
    return {**dict(zip(order, made.positional, strict=False)), **made.arguments}.get("region_name")


class RequestOfCall:
    """Makes the request of one job. What cannot be resolved is recorded, and left out."""

    def __init__(self, job: Job, surroundings: Surroundings, variables: Variables) -> None:
        self.given = dict(job.estimator.arguments)
        self.stem = job.name
        self.surroundings = surroundings
        self.variables = variables
        self.region: Value = self.given.pop("region", None)
        if isinstance(self.region, SdkUnknown) and self.region.name == "region_name":
            self.region.name = "region"
        self.not_imported: list[NotImported] = []

    def made(self) -> SdkRequest:
        """Return the request."""
        rest = self.given.pop(UNPACKED, None)
        if isinstance(rest, Entries):
            self.given = {**{str(name): value for name, value in rest.values.items()}, **self.given}
        if rest is not None:
            self.not_imported.append(NotImported((CALL,), MORE))
        name = self.given.pop(_NAME, None)
        request = self._members(self.given, pinned_model().root, ())
        if isinstance(name, str):
            request = {_NAME: name, **request}
        elif name is not None:
            self.not_imported.append(NotImported((_NAME,), "it is different in each run"))
        return SdkRequest(
            request=request,
            stem=self.stem,
            region=None if self.region is None else self.variables.one(self.region, "region"),
            source=None,
            launch=Launch(),
            switches={},
            additions=(),
            not_imported=tuple(self.not_imported),
            dependencies=(),
        )

    def _members(self, given: dict[str, Value], shape: Shape | None, path: Path) -> dict[str, object]:
        found: dict[str, object] = {}
        for name, value in given.items():
            below = _below(shape, name)
            here = (*path, name)
            is_one = below is not None and below.kind not in ("structure", "map", "list")
            if len(path) > _DEEPEST or (is_one and isinstance(value, Entries)):
                self.not_imported.append(NotImported(here, "the API takes one value here, and not a mapping"))
            elif name == _IMAGE and isinstance(value, SdkInstance) and is_image_call(value):
                found[name] = self._image(value)
            elif isinstance(value, Entries):
                found[name] = self._mapping(value, below, here)
            elif isinstance(value, SdkItems):
                found[name] = self._items(value, below, here)
            elif below is not None and below.kind in ("structure", "map") and not isinstance(value, str):
                self.not_imported.append(NotImported(here, NOT_KNOWN))
            else:
                found[name] = self.variables.one(value, _ARGUMENTS.get(name, name))
        return found

    def _mapping(self, value: Entries, shape: Shape | None, path: Path) -> dict[str, object]:
        if not value.is_known:
            self.not_imported.append(NotImported(path, MORE))
        return self._members({str(name): inner for name, inner in value.values.items()}, shape, path)

    def _items(self, value: SdkItems, shape: Shape | None, path: Path) -> list[object]:
        item = _below(shape, "")
        if not value.is_known:
            self.not_imported.append(NotImported(path, MORE))
        found: list[object] = []
        for index, inner in enumerate(value.values):
            here = (*path, index)
            if isinstance(inner, Entries):
                found.append(self._mapping(inner, item, here))
            elif item is not None and item.kind == "structure":
                self.not_imported.append(NotImported(here, NOT_KNOWN))
            else:
                found.append(self.variables.one(inner, _ARGUMENTS.get(str(path[-1]), str(path[-1]))))
        return found

    def _image(self, call: SdkInstance) -> object:
        image = image_of_call(call, self.surroundings)
        if image is None:
            return self.variables.mark(call, "image_uri")
        self.region = self.region if isinstance(self.region, str) else image.region
        return self.variables.one(image.name, "image_uri")


def _below(shape: Shape | None, name: str) -> Shape | None:
    """Return the shape of a member, of a value of a map, or of an item; None if it is not known."""
    if shape is None:
        return None
    if shape.kind in ("map", "list"):
        return pinned_model().shapes[shape.item]
    return pinned_model().shapes[shape.members[name]] if name in shape.members else None


def name_of(value: Value) -> str:
    """Return what to call a job whose name is a value: the part that all runs share."""
    text = value.parts[0] if isinstance(value, SdkText) else value
    return slug(text) if isinstance(text, str) else "training-job"


def result_of_method(owner: SdkInstance, call: SdkInstance, surroundings: Surroundings) -> Value:
    """Return the result of a method."""
    name = call.kind
    given = call.positional[0] if call.positional else next(iter(call.arguments.values()), None)
    if name == "default_bucket":
        bucket = owner.arguments.get("default_bucket")
        return surroundings.bucket if bucket is None else bucket
    if name == "upload_data":
        return SdkUnknown(is_text=True)
    if name == "set_hyperparameters":
        _set_hyperparameters(owner, call)
    elif name == "hyperparameters" and owner.kind.endswith((".Estimator", ".EstimatorBase")):
        return own_hyperparameters(owner) or UNKNOWN
    elif name.startswith("with_") and owner.kind.endswith(".ModelTrainer"):
        owner.arguments[name] = given if call.is_known else SdkUnknown(name)
        return owner
    elif name in ("client", "resource", "Session"):
        call.kind = f"{owner.kind}.{name}"
        if region_of(call) is None and region_of(owner) is not None:
            call.arguments["region_name"] = region_of(owner)
        return call
    elif name == "get_caller_identity":
        return Named("boto3.caller_identity")
    return UNKNOWN


def _set_hyperparameters(owner: SdkInstance, call: SdkInstance) -> None:
    known = shared_hyperparameters(owner) or owner.arguments.setdefault("set_hyperparameters", Entries({}))
    if isinstance(known, Entries):
        is_framework = owner.kind.rpartition(".")[2] in FRAMEWORKS
        known.values.update(as_json_texts(call.arguments) if is_framework else call.arguments)
        known.is_known &= call.is_known
