"""The CreateTrainingJob request, read as SageMaker reads it: the payload after every patch is what runs."""

from __future__ import annotations

import os
from collections.abc import Mapping

from smspec.source.frozen import dataclass

Json = Mapping[str, object]

DEFAULT_GROUP = "homogeneousCluster"
"""The instance group in resourceconfig.json if the job has none."""
_DIRECTORIES = {
    "CheckpointConfig": "/opt/ml/checkpoints",
    "DebugHookConfig": "/opt/ml/output/tensors",
    "TensorBoardOutputConfig": "/opt/ml/output/tensorboard",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One host of the job. ``rank`` counts from 0 over all instance groups."""

    name: str
    rank: int
    group: str
    instance_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingChannel:
    """One item of InputDataConfig with the API's defaults. ``index`` is its position in the list.

    ``uri`` is None for a file system. ``groups`` empty: every host.
    """

    index: int
    name: str
    mode: str
    uri: str | None
    s3_data_type: str
    distribution: str
    attributes: tuple[str, ...]
    groups: tuple[str, ...]
    content_type: str | None
    compression: str
    record_wrapper: str
    shuffle_seed: int | None

    def hosts(self, hosts: tuple[Host, ...]) -> tuple[Host, ...]:
        """Return the hosts that get this channel."""
        return tuple(host for host in hosts if host.group in self.groups) if self.groups else hosts


@dataclass(frozen=True, slots=True)
class TrainingRequest:
    """Typed accessors of a payload."""

    payload: Json

    @property
    def input_mode(self) -> str:
        return _text(_object(self.payload, "AlgorithmSpecification"), "TrainingInputMode") or "File"

    @property
    def hyperparameters(self) -> dict[str, str]:
        return {name: str(value) for name, value in _object(self.payload, "HyperParameters").items()}

    @property
    def environment(self) -> dict[str, str]:
        return {name: str(value) for name, value in _object(self.payload, "Environment").items()}

    @property
    def name(self) -> str:
        return _text(self.payload, "TrainingJobName") or "training-job"

    @property
    def role(self) -> str:
        return _text(self.payload, "RoleArn") or ""

    @property
    def max_runtime(self) -> int | None:
        return _number(_object(self.payload, "StoppingCondition"), "MaxRuntimeInSeconds")

    @property
    def checkpoint_directory(self) -> str | None:
        """The directory of checkpoints in the container; None if the job has none."""
        if "CheckpointConfig" not in self.payload:
            return None
        return _text(_object(self.payload, "CheckpointConfig"), "LocalPath") or _DIRECTORIES["CheckpointConfig"]

    @property
    def checkpoint_place(self) -> str:
        """That directory relative to the root of a host; empty if a host has none."""
        directory = self.checkpoint_directory or ""
        return os.path.normpath(directory).lstrip("/") if directory.startswith("/") else ""

    @property
    def directory_configs(self) -> dict[str, dict[str, object]]:
        """The members with a directory that SageMaker uploads, by name; `LocalPath` is the default if they set none."""
        found = {name: self.payload.get(name) for name in _DIRECTORIES}
        return {
            name: {"LocalPath": _DIRECTORIES[name], **config}
            for name, config in found.items()
            if isinstance(config, dict)
        }

    @property
    def volume_gb(self) -> int | None:
        return _number(_object(self.payload, "ResourceConfig"), "VolumeSizeInGB")

    @property
    def is_spot(self) -> bool:
        return self.payload.get("EnableManagedSpotTraining") is True

    @property
    def compresses_output(self) -> bool:
        return _text(_object(self.payload, "OutputDataConfig"), "CompressionType") != "NONE"

    @property
    def metric_definitions(self) -> list[object]:
        return _list(_object(self.payload, "AlgorithmSpecification"), "MetricDefinitions")

    @property
    def has_groups(self) -> bool:
        return bool(_list(_object(self.payload, "ResourceConfig"), "InstanceGroups"))

    def hosts(self, count: int | None = None) -> tuple[Host, ...]:
        """Return the hosts: ``algo-1`` to ``algo-N``. ``count`` replaces InstanceCount."""
        resources = _object(self.payload, "ResourceConfig")
        groups = [
            (
                _text(group, "InstanceGroupName") or "",
                _text(group, "InstanceType") or "",
                _number(group, "InstanceCount"),
            )
            for group in _list(resources, "InstanceGroups")
            if isinstance(group, Mapping)
        ]
        if not groups:
            kind = _text(resources, "InstanceType") or "local"
            groups = [(DEFAULT_GROUP, kind, count or _number(resources, "InstanceCount"))]
        members = [(group, kind) for group, kind, size in groups for _ in range(size or 1)]
        return tuple(
            Host(name=f"algo-{rank + 1}", rank=rank, group=group, instance_type=kind)
            for rank, (group, kind) in enumerate(members)
        )

    @property
    def channels(self) -> tuple[TrainingChannel, ...]:
        """The channels, those of the source and the runtime included."""
        items = _list(self.payload, "InputDataConfig")
        return tuple(self._channel(index, item) for index, item in enumerate(items) if isinstance(item, Mapping))

    def _channel(self, index: int, item: Json) -> TrainingChannel:
        s3 = _object(_object(item, "DataSource"), "S3DataSource")
        return TrainingChannel(
            index=index,
            name=_text(item, "ChannelName") or "",
            mode=_text(item, "InputMode") or self.input_mode,
            uri=_text(s3, "S3Uri"),
            s3_data_type=_text(s3, "S3DataType") or "S3Prefix",
            distribution=_text(s3, "S3DataDistributionType") or "FullyReplicated",
            attributes=tuple(map(str, _list(s3, "AttributeNames"))),
            groups=tuple(map(str, _list(s3, "InstanceGroupNames"))),
            content_type=_text(item, "ContentType"),
            compression=_text(item, "CompressionType") or "None",
            record_wrapper=_text(item, "RecordWrapperType") or "None",
            shuffle_seed=_number(_object(item, "ShuffleConfig"), "Seed"),
        )


def _object(parent: Json, name: str) -> Json:
    value = parent.get(name)
    return value if isinstance(value, Mapping) else {}


def _list(parent: Json, name: str) -> list[object]:
    value = parent.get(name)
    return list(value) if isinstance(value, list | tuple) else []


def _text(parent: Json, name: str) -> str | None:
    value = parent.get(name)
    return value if isinstance(value, str) else None


def _number(parent: Json, name: str) -> int | None:
    value = parent.get(name)
    return value if isinstance(value, int) else None
