"""The ARNs in a request, with their regions and accounts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from smspec.service.members import items, member
from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec.source.memo import ByIdentity

_SINGLE: tuple[tuple[str, ...], ...] = (
    ("AlgorithmSpecification", "AlgorithmName"),
    (
        "AlgorithmSpecification",
        "TrainingImageConfig",
        "TrainingRepositoryAuthConfig",
        "TrainingRepositoryCredentialsProviderArn",
    ),
    ("OutputDataConfig", "KmsKeyId"),
    ("ResourceConfig", "VolumeKmsKeyId"),
    ("ResourceConfig", "TrainingPlanArn"),
    ("ModelPackageConfig", "ModelPackageGroupArn"),
    ("MlflowConfig", "MlflowResourceArn"),
    ("ModelPackageConfig", "SourceModelPackageArn"),
    ("ServerlessJobConfig", "BaseModelArn"),
    ("ServerlessJobConfig", "EvaluatorArn"),
)
_OF_CHANNELS = (
    ("DataSource", "S3DataSource", "HubAccessConfig", "HubContentArn"),
    ("DataSource", "DatasetSource", "DatasetArn"),
)
_HOLDERS = tuple(dict.fromkeys((*(path[0] for path in _SINGLE), "InputDataConfig")))
# The resources of these may be elsewhere: no public source requires a hub or a source package in the region of the job.
_MAY_LIE_ELSEWHERE = frozenset({"SourceModelPackageArn", "BaseModelArn", "EvaluatorArn", "HubContentArn", "DatasetArn"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Arn:
    """The parts of ``arn:partition:service:region:account:resource``; the region of a global resource is empty."""

    partition: str
    service: str
    region: str
    account: str
    resource: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedArn:
    """An ARN and the member that contains it. ``is_of_the_job``: its resource must be in the region of the job."""

    path: Path
    arn: Arn
    is_of_the_job: bool


_FOUND: ByIdentity[list[NamedArn]] = ByIdentity()  # jobs share most members


def parsed_arn(text: object) -> Arn | None:
    """Parse an ARN; None if it is not one."""
    parts = text.split(":", 5) if isinstance(text, str) else []
    if len(parts) < 6 or parts[0] != "arn":
        return None
    return Arn(partition=parts[1], service=parts[2], region=parts[3], account=parts[4], resource=parts[5])


def named_arns(payload: dict[str, object]) -> Iterator[NamedArn]:
    """Yield every ARN of a request except RoleArn and those in arguments and tags."""
    for name in _HOLDERS:
        if name in payload:
            yield from _FOUND.of(name, payload[name], partial(_named_arns, name, payload[name]))


def _named_arns(name: str, value: object) -> list[NamedArn]:
    """Return the ARNs in a member of a request."""
    return [
        NamedArn(path=path, arn=arn, is_of_the_job=_MAY_LIE_ELSEWHERE.isdisjoint(map(str, path)))
        for path, text in _texts(name, value)
        if (arn := parsed_arn(text)) is not None
    ]


def _texts(name: str, value: object) -> Iterator[tuple[Path, object]]:
    for path in _SINGLE:
        if path[0] == name:
            yield path, member(value, *path[1:])
    if name == "ResourceConfig":
        for index, preference in enumerate(items(value, "InstancePreferences")):
            for position, plan in enumerate(items(preference, "TrainingPlanArns")):
                yield ("ResourceConfig", "InstancePreferences", index, "TrainingPlanArns", position), plan
    if name == "InputDataConfig":
        for index, channel in enumerate(items(value)):
            for steps in _OF_CHANNELS:
                yield ("InputDataConfig", index, *steps), member(channel, *steps)
