"""Defaults that the service adds to a request: the description of a job contains them, the request need not."""

from __future__ import annotations

from smspec.service.members import items, structure

_ABSENT_OR = {
    ("EnableNetworkIsolation",): False,
    ("EnableInterContainerTrafficEncryption",): False,
    ("EnableManagedSpotTraining",): False,
    ("OutputDataConfig", "CompressionType"): "GZIP",
    ("OutputDataConfig", "KmsKeyId"): "",
    ("ResourceConfig", "VolumeKmsKeyId"): "",
    ("AlgorithmSpecification", "EnableSageMakerMetricsTimeSeries"): False,
    ("AlgorithmSpecification", "TrainingImageConfig", "TrainingRepositoryAccessMode"): "Platform",
    ("StoppingCondition", "MaxRuntimeInSeconds"): 86_400,
    ("CheckpointConfig", "LocalPath"): "/opt/ml/checkpoints/",
    ("RemoteDebugConfig", "EnableRemoteDebug"): False,
    ("InfraCheckConfig", "EnableInfraCheck"): False,
    ("ProfilerConfig", "DisableProfiler"): False,
    ("ProfilerConfig", "ProfilingIntervalInMilliseconds"): 500,
}
_OF_A_CHANNEL = {
    ("CompressionType",): "None",
    ("RecordWrapperType",): "None",
    ("DataSource", "S3DataSource", "S3DataDistributionType"): "FullyReplicated",
}


def without_defaults(payload: dict[str, object]) -> dict[str, object]:
    """Return a request without default values, to compare it with a description; both sides need this."""
    changed = payload
    for path, default in _ABSENT_OR.items():
        changed = _without(changed, path, default)
    mode = structure(changed, "AlgorithmSpecification").get("TrainingInputMode")
    channels = []
    for channel in items(changed, "InputDataConfig"):
        members = structure(channel)
        for path, default in (*_OF_A_CHANNEL.items(), (("InputMode",), mode)):
            members = _without(members, path, default)
        channels.append(members)
    return {**changed, "InputDataConfig": channels} if channels else changed


def _without(members: dict[str, object], path: tuple[str, ...], default: object) -> dict[str, object]:
    name, *rest = path
    value = members.get(name)
    if rest:
        if not isinstance(value, dict):
            return members
        inner = _without(value, tuple(rest), default)
        if inner is value:
            return members
        kept = {**members, name: inner}
        return kept if inner else {key: there for key, there in kept.items() if key != name}
    same = value is not None and value == default and isinstance(value, bool) == isinstance(default, bool)
    if not same and isinstance(value, str) and isinstance(default, str) and len(default) > 1:
        same = value.rstrip("/") == default.rstrip("/") and default.startswith("/")
    return {key: there for key, there in members.items() if key != name} if same else members
