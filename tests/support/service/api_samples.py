"""Valid values of every shape of the API, and requests that set a given path."""

from __future__ import annotations

import botocore
import pytest

from smspec.service.patterns import matches
from smspec.service.shapes import Model, Shape, pinned_model
from smspec.source import Path

ARN = "arn:aws:sagemaker:us-west-2:111122223333"
HUB = "arn:aws:sagemaker:us-west-2:aws:hub-content/SageMakerPublicHub"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


_PINNED = pinned_model().botocore
# An older botocore does not know every member of the pinned model, nor newer operations.
with_the_pinned_model = pytest.mark.skipif(
    _numbers(botocore.__version__) < _numbers(_PINNED),
    reason=f"botocore {botocore.__version__} is older than {_PINNED}, whose model smspec has",
)

# Values for patterns that plain words do not match.
TEXTS = {
    "RoleArn": "arn:aws:iam::111122223333:role/SageMakerTraining",
    "S3Uri": "s3://example-data/prefix/",
    "FileSystemId": "fs-0123456789abcdef0",
    "TrainingPlanArn": f"{ARN}:training-plan/plan",
    "MlflowResourceArn": f"{ARN}:mlflow-tracking-server/server",
    "ModelPackageGroupArn": f"{ARN}:model-package-group/group",
    "ModelPackageArn": f"{ARN}:model-package/group/1",
    "DatasetArn": None,
    "TrainingRepositoryCredentialsProviderArn": "arn:aws:lambda:us-west-2:111122223333:function:credentials",
    "SequenceLength": "32K",
}
CANDIDATES = (
    "sample",
    *filter(None, TEXTS.values()),
    f"{HUB}/DataSet/sample",
    f"{HUB}/Model/sample",
)


def text(shape: Shape) -> str:
    """Return a text that a shape allows."""
    if shape.enum:
        return shape.enum[0]
    for candidate in (TEXTS.get(shape.name), *CANDIDATES):
        if candidate and is_allowed(shape, candidate):
            return candidate
    for length in range(shape.minimum or 0, (shape.maximum or 0) + 1):
        if is_allowed(shape, "a" * length):
            return "a" * length
    raise AssertionError(f"no sample for {shape.name}: {shape.pattern}")


def is_allowed(shape: Shape, value: str) -> bool:
    """Return whether a text satisfies length and pattern."""
    fits = (shape.minimum or 0) <= len(value) <= (shape.maximum or 10**6)
    return fits and (shape.pattern is None or matches(shape.pattern, value))


def value(model: Model, shape: Shape) -> object:
    """Return a small value of a shape: required members only, one item, one entry."""
    if shape.kind == "structure":
        return {name: value(model, model.shapes[shape.members[name]]) for name in shape.required}
    if shape.kind == "list":
        return [value(model, model.shapes[shape.item])]
    if shape.kind == "map":
        return {text(model.shapes[shape.key]): value(model, model.shapes[shape.item])}
    if shape.kind == "boolean":
        return True
    if shape.kind == "string":
        return text(shape)
    return max(1, shape.minimum or 0)


OF_AN_ALGORITHM = {
    "InputDataConfig": [
        {
            "ChannelName": "train",
            "ContentType": "text/csv",
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://example-data/train/"}},
        }
    ],
    "HyperParameters": {"k": "10", "feature_dim": "784", "num_round": "10"},
}
"""What k-means and XGBoost require; names that an algorithm does not know are no misspelled others."""


def small_request() -> dict[str, object]:
    """Return a request that the service would accept, with little in it."""
    return {
        "TrainingJobName": "sample",
        "AlgorithmSpecification": {
            "TrainingImage": "111122223333.dkr.ecr.us-west-2.amazonaws.com/sample:1",
            "TrainingInputMode": "File",
        },
        "RoleArn": TEXTS["RoleArn"],
        "OutputDataConfig": {"S3OutputPath": "s3://example-models/sample/"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 5},
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
    }


def fill(request: dict[str, object], path: tuple[str | int, ...]) -> tuple[object, str | int]:
    """Put a valid value at ``path``, ``*`` being any key of a map; return what holds it, and under which key."""
    model = pinned_model()
    shape, holder = model.root, request
    for step in path[:-1]:
        inner = inside(model, shape, step)
        key = key_of(model, shape, step)
        if isinstance(holder, dict):
            holder = holder.setdefault(key, value(model, inner))
        else:
            holder = holder[key]
        shape = inner
    key = key_of(model, shape, path[-1])
    if isinstance(holder, dict):
        holder.setdefault(key, value(model, inside(model, shape, path[-1])))
    return holder, key


def inside(model: Model, shape: Shape, step: str | int) -> Shape:
    """Return the shape one step further."""
    return model.shapes[shape.members[step] if shape.kind == "structure" else shape.item]


def key_of(model: Model, shape: Shape, step: str | int) -> str | int:
    """Return the key that a step of a walked path stands for."""
    return text(model.shapes[shape.key]) if shape.kind == "map" else step


def concrete(model: Model, path: Path) -> Path:
    """Return the walked path with the names of map entries for its stars."""
    steps: list[str | int] = []
    shape = model.root
    for step in path:
        steps.append(key_of(model, shape, step))
        shape = inside(model, shape, step)
    return tuple(steps)


def changed(**parts: object) -> dict[str, object]:
    """Return the small request with members replaced; None takes one away."""
    request = small_request() | parts
    return {name: value for name, value in request.items() if value is not None}
