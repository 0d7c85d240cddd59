"""From a merged document that has the shape of a job to the job itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from smspec.source import Document, Node, Scalar, to_data
from smspec.source import Mapping as MappingNode
from smspec.spec import model
from smspec.spec.shape.durations import seconds
from smspec.spec.shape.sizes import size_in_bytes, volume_in_gb
from smspec.spec.shape.view import viewed

Convert = Callable[[object], object]
Kind = TypeVar("Kind")


def decode(document: Document) -> model.JobSpec:
    """Return the job that ``document`` describes. It has been merged, and `shape_findings` has found nothing."""
    data = cast("dict[str, object]", viewed(document.root))
    root = document.root
    parameters = root.get("hyperparameters") if isinstance(root, MappingNode) else None
    job = _values(data, JOB)
    if parameters is not None:
        job["hyperparameters"] = _hyperparameters(parameters)
    if "checks" in data:
        job["ignored_checks"] = _values(cast("dict[str, object]", data["checks"]), CHECKS).get("ignore", ())
    return model.JobSpec(**job)  # type: ignore[arg-type]  # the schema and the tables below say what is in it


def _values(data: Mapping[str, object], table: Mapping[str, Convert | None]) -> dict[str, object]:
    """Return the converted value of every key that is written; a key without converter is decoded by its caller."""
    converted = ((key, table[key], value) for key, value in data.items())
    return {key: convert(value) for key, convert, value in converted if convert is not None}


def _built(kind: Callable[..., Kind], table: Mapping[str, Convert | None]) -> Callable[[object], Kind]:
    """Return what turns a mapping into a ``kind``. What is not written keeps the default of the model."""
    return lambda data: kind(**_values(cast("dict[str, object]", data), table))


def _each(convert: Convert) -> Convert:
    return lambda items: tuple(convert(item) for item in cast("list[object]", items))


def _as_is(value: object) -> object:
    return value


def _whole(value: object) -> int:
    # 4.0 is a whole number to JSON Schema, and so to every editor.
    return int(cast("int | float", value))


def _duration(value: object) -> int:
    return seconds(cast("int | float | str", value))


def _size(value: object) -> int:
    return size_in_bytes(cast("int | float | str", value))


def _volume(value: object) -> int:
    return volume_in_gb(cast("int | float | str", value))


def _processes(value: object) -> object:
    return value if value == "auto" else _whole(value)


_texts = _each(_as_is)


def _hyperparameters(node: Node) -> tuple[model.Hyperparameter, ...]:
    entries = node.entries if isinstance(node, MappingNode) else ()
    return tuple(
        model.Hyperparameter(name=key.text, value=value.value, text=value.text, quoted=not value.plain)
        if isinstance(value, Scalar)
        else model.Hyperparameter(name=key.text, value=to_data(value))
        for key, value in entries
    )


def _image(value: object) -> model.BuiltImage | model.ReadyImage:
    return model.ReadyImage(uri=value) if isinstance(value, str) else _built(model.BuiltImage, IMAGE)(value)


def _entry_point(value: object) -> object:
    return _of_kind(cast("dict[str, object]", value), ENTRY_POINTS)(value)


def _distribution(value: object) -> object:
    ((name, options),) = cast("dict[str, object]", value).items()
    return _built(model.DISTRIBUTIONS[name], LAUNCHERS[name])(options)


def _of_kind(data: dict[str, object], kinds: Mapping[str, Convert]) -> Convert:
    return next(convert for name, convert in kinds.items() if name in data)


def _channels(value: object) -> tuple[model.Channel, ...]:
    channels = cast("dict[str, dict[str, object]]", value)
    return tuple(model.Channel(name=name, **_values(data, CHANNEL)) for name, data in channels.items())  # type: ignore[arg-type]  # as in decode


IMAGE: dict[str, Convert | None] = {
    "base": _as_is,
    "platform": _as_is,
    "system_packages": _texts,
    "python_packages": _texts,
    "python_requirements": _as_is,
    "env": _as_is,
    "run": _texts,
    "repository": _as_is,
    "labels": _as_is,
}
SOURCE: dict[str, Convert | None] = {"dir": _as_is, "delivery": _as_is, "s3": _as_is, "ignore": _texts}
SCRIPT: dict[str, Convert | None] = {"script": _as_is, "args": _texts, "args_style": _as_is}
COMMAND: dict[str, Convert | None] = {"command": _texts, "args_style": _as_is}
MODULE: dict[str, Convert | None] = {"module": _as_is}
PIPE_LOOP: dict[str, Convert | None] = {
    "pipe_loop": _as_is,
    "epochs": _whole,
    "read": _as_is,
    "prefetch": _size,
    "open_timeout": _duration,
}
ENTRY_POINTS: dict[str, Convert] = {
    "script": _built(model.ScriptEntry, SCRIPT),
    "command": _built(model.CommandEntry, COMMAND),
    "module": _built(model.ModuleEntry, MODULE),
    "pipe_loop": _built(model.PipeLoopEntry, PIPE_LOOP),
}
FILE_SYSTEM: dict[str, Convert | None] = {"id": _as_is, "type": _as_is, "path": _as_is, "access": _as_is}
CHANNEL: dict[str, Convert | None] = {
    "s3": _as_is,
    "file_system": _built(model.FileSystem, FILE_SYSTEM),
    "s3_data_type": _as_is,
    "attributes": _texts,
    "distribution": _as_is,
    "instance_groups": _texts,
    "input_mode": _as_is,
    "content_type": _as_is,
    "compression": _as_is,
    "record_wrapper": _as_is,
    "shuffle_seed": _whole,
    "local": _as_is,
    "api": _as_is,
}
GROUP: dict[str, Convert | None] = {"name": _as_is, "instance_type": _as_is, "count": _whole}
HOSTS: dict[str, Convert | None] = {
    "instance_type": _as_is,
    "count": _whole,
    "volume": _volume,
    "volume_kms_key": _as_is,
    "keep_alive": _duration,
    "training_plan": _as_is,
    "groups": _each(_built(model.InstanceGroup, GROUP)),
}
LAUNCHERS: dict[str, dict[str, Convert | None]] = {
    "torchrun": {"processes_per_host": _processes, "port": _whole},
    "mpi": {"processes_per_host": _processes, "options": _texts},
    "parameter_server": {"framework": _as_is},
    "smdataparallel": {},
}
STOPPING: dict[str, Convert | None] = {"max_runtime": _duration, "max_pending": _duration}
SPOT: dict[str, Convert | None] = {"max_wait": _duration}
OUTPUT: dict[str, Convert | None] = {"s3": _as_is, "kms_key": _as_is, "compression": _as_is}
CHECKPOINTS: dict[str, Convert | None] = {"s3": _as_is, "local": _as_is}
NETWORK: dict[str, Convert | None] = {
    "subnets": _texts,
    "security_groups": _texts,
    "isolation": _as_is,
    "encrypt_inter_container": _as_is,
}
METRIC: dict[str, Convert | None] = {"name": _as_is, "regex": _as_is}
IGNORED_CHECK: dict[str, Convert | None] = {"rule": _as_is, "at": _as_is, "because": _as_is}
CHECKS: dict[str, Convert | None] = {"ignore": _each(_built(model.IgnoredCheck, IGNORED_CHECK))}
JOB: dict[str, Convert | None] = {
    "smspec": None,
    "name": _as_is,
    "description": _as_is,
    "role": _as_is,
    "region": _as_is,
    "account": _as_is,
    "image": _image,
    "source": _built(model.Source, SOURCE),
    "entry_point": _entry_point,
    "input_mode": _as_is,
    "channels": _channels,
    "hosts": _built(model.Hosts, HOSTS),
    "distribution": _distribution,
    "hyperparameters": None,
    "hyperparameter_encoding": _as_is,
    "environment": _as_is,
    "stopping": _built(model.Stopping, STOPPING),
    "spot": _built(model.Spot, SPOT),
    "retries": _whole,
    "output": _built(model.Output, OUTPUT),
    "checkpoints": _built(model.Checkpoints, CHECKPOINTS),
    "tensorboard": _as_is,
    "network": _built(model.Network, NETWORK),
    "metrics": _each(_built(model.Metric, METRIC)),
    "tags": _as_is,
    "job_name": _as_is,
    "api": _as_is,
    "checks": None,
}
"""How the value of every key is read. None: by `decode` itself, or not at all."""
