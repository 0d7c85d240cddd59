"""A training job that a program would start, its request, and the keys of a spec that say more: script and launcher.

The request has a mark for what only a run of the program has. `distribution` becomes a key of a spec, or switches of
the toolkit.
"""

from __future__ import annotations

import json
import posixpath

from smspec.importer.imported import NotImported
from smspec.importer.marks import holds_mark
from smspec.importer.sdk.values import Entries, SdkInstance, SdkPlace
from smspec.importer.sdk.variables import NotResolved, Variables
from smspec.service.shapes import member, structure
from smspec.source.frozen import dataclass, field
from smspec.spec.keys import ROW

_PYTORCH = ("PyTorch", "HuggingFace")

_S3 = "s3://"

NOT_FOLLOWED = "the program may change them where smspec does not follow"
"""Why arguments of an estimator are not known, if there is no line to name."""

QUEUE = "queue"
"""The argument of a call that holds what belongs to its queue of AWS Batch."""

_QUEUE_KEYS = {
    "queue_name": ("name",),
    "priority": ("priority",),
    "share_identifier": ("share",),
    "quota_share_name": ("quota_share",),
    "retry_config": ("attempts", "attempts"),
    "timeout": ("timeout", "attemptDurationSeconds"),
    "preemption_config": ("preemptions", "preemptionRetriesBeforeTermination"),
}
"""Argument of `TrainingQueue.submit` → the key of `queue`, and the member of the argument that it is."""

_TEXTS = ("name", "share", "quota_share")
_USUAL_TIMEOUT = "1d"
"""What `TrainingQueue.submit` sends if it is not given one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """``key``: the value of `distribution` in the spec, None if no key says it.

    ``switches`` are hyperparameters that the SDK sends and the key does not, not yet encoded.
    """

    key: object = None
    is_mpi: bool = False
    switches: dict[str, object] = field(default_factory=dict)


def launch(distribution: object, class_name: str, instance_type: object) -> Launch:
    """Return how the processes start, for a distribution that is plain JSON."""
    if not isinstance(distribution, dict) or not distribution:
        return Launch()
    if class_name in _PYTORCH:
        if _is_on(distribution, "pytorchddp"):
            return Launch(switches={"sagemaker_pytorch_ddp_enabled": True, "sagemaker_instance_type": instance_type})
        if _is_on(distribution, "torch_distributed") and "smdistributed" not in distribution:
            return Launch(key="torchrun")
    kinds = [name for name in distribution if name != "instance_groups"]
    if kinds == ["mpi"] and _is_on(distribution, "mpi"):
        return _mpi(distribution["mpi"])
    if kinds == ["parameter_server"] and _is_on(distribution, "parameter_server"):
        return Launch(key={"parameter_server": {"framework": "mxnet" if class_name == "MXNet" else "tensorflow"}})
    data_parallel = distribution.get("smdistributed")
    if kinds == ["smdistributed"] and isinstance(data_parallel, dict) and list(data_parallel) == ["dataparallel"]:
        inner = data_parallel["dataparallel"]
        if isinstance(inner, dict) and inner.get("enabled") is True:
            options = inner.get("custom_mpi_options")
            more = {"sagemaker_distributed_dataparallel_custom_mpi_options": options} if options else {}
            return Launch(key="smdataparallel", switches=more)
    return Launch(switches=_switches(distribution, instance_type), is_mpi=_is_on(distribution, "mpi"))


def _is_on(distribution: dict[str, object], name: str) -> bool:
    inner = distribution.get(name)
    return isinstance(inner, dict) and inner.get("enabled") is True


def _mpi(given: object) -> Launch:
    members = given if isinstance(given, dict) else {}
    key: dict[str, object] = {}
    if members.get("processes_per_host"):
        key["processes_per_host"] = members["processes_per_host"]
    options = members.get("custom_mpi_options")
    if isinstance(options, str) and options.split():
        key["options"] = options.split()
    return Launch(key={"mpi": key} if key else "mpi", is_mpi=True)


def _switches(distribution: dict[str, object], instance_type: object) -> dict[str, object]:
    """Return the toolkit's switches, as the SDK sends them for combinations that a spec has no key for."""
    found: dict[str, object] = {}
    if "instance_groups" in distribution:
        found["sagemaker_distribution_instance_groups"] = distribution["instance_groups"]
    names = {
        "pytorchxla": "sagemaker_pytorch_xla_multi_worker_enabled",
        "parameter_server": "sagemaker_parameter_server_enabled",
        "mpi": "sagemaker_mpi_enabled",
        "multi_worker_mirrored_strategy": "sagemaker_multi_worker_mirrored_strategy_enabled",
    }
    for name, switch in names.items():
        if name in distribution:
            found[switch] = _is_on(distribution, name)
    mpi = distribution.get("mpi")
    if isinstance(mpi, dict):
        if mpi.get("processes_per_host"):
            found["sagemaker_mpi_num_of_processes_per_host"] = mpi["processes_per_host"]
        found["sagemaker_mpi_custom_mpi_options"] = mpi.get("custom_mpi_options", "")
    smdistributed = distribution.get("smdistributed")
    if isinstance(smdistributed, dict):
        parallel = smdistributed.get("modelparallel")
        if isinstance(parallel, dict) and parallel.get("enabled") is True:
            found["mp_parameters"] = parallel.get("parameters", {})
        data = smdistributed.get("dataparallel")
        is_on = isinstance(data, dict) and data.get("enabled") is True
        found["sagemaker_distributed_dataparallel_enabled"] = is_on
        found["sagemaker_instance_type"] = instance_type
        if is_on and isinstance(data, dict):
            found["sagemaker_distributed_dataparallel_custom_mpi_options"] = data.get("custom_mpi_options", "")
    if _is_on(distribution, "torch_distributed"):
        found["sagemaker_torch_distributed_enabled"] = True
        found["sagemaker_instance_type"] = instance_type
    return found


def encoded(switches: dict[str, object]) -> dict[str, object]:
    """Return switches as the SDK sends them: each as JSON."""
    return {name: json.dumps(value) for name, value in switches.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrySource:
    """``directory`` of the files, relative to the program, and ``script`` in it.

    ``is_alone``: the SDK sends the script without the other files. ``archive``: an archive in S3 that the program
    names instead; then there is no directory. ``ignore``: patterns of files that the SDK leaves behind.
    """

    directory: str
    script: str
    is_alone: bool
    archive: str | None = None
    ignore: tuple[str, ...] = ()

    @property
    def ignored(self) -> list[str]:
        """Patterns of files that are not sent."""
        return ["*", f"!{self.script}"] if self.is_alone else list(self.ignore)


def script_source(script: object, directory: object) -> EntrySource | None:
    """Return where the code is, for two paths, of which the second may be None; None if they are no paths."""
    if not isinstance(script, str) or not script or (directory is not None and not isinstance(directory, str)):
        return None
    if directory and directory.lower().startswith(_S3):
        return EntrySource(directory="", script=script, is_alone=False, archive=directory)
    if directory:
        return EntrySource(directory=posixpath.normpath(directory), script=posixpath.normpath(script), is_alone=False)
    path = posixpath.normpath(script)
    script = posixpath.basename(path)
    return EntrySource(directory=posixpath.dirname(path) or ".", script=script, is_alone=not holds_mark(script))


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An estimator or trainer, and the call that starts the job; None if the program only creates the estimator.

    ``part_of``: what starts the job, if it is no call of `fit`; ``start``: what may start it, if nothing does for sure.
    """

    estimator: SdkInstance
    call: SdkInstance | None
    part_of: str
    start: str = ""

    @property
    def place(self) -> SdkPlace:
        return self.estimator.place

    @property
    def name(self) -> str:
        """What the program calls the estimator."""
        return self.estimator.name or "estimator"

    @property
    def class_name(self) -> str:
        return self.estimator.kind.rpartition(".")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueArguments:
    """What a queue of AWS Batch is given besides the request: ``keys`` of `queue`, and ``tags`` of the job."""

    keys: dict[str, object] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    not_imported: tuple[NotImported, ...] = ()


def queue_arguments(call: SdkInstance | None, variables: Variables) -> QueueArguments:
    """Return what a call gives to its queue; nothing if it is not a call of one."""
    given = call.arguments.get(QUEUE) if call is not None else None
    if not isinstance(given, Entries):
        return QueueArguments()
    keys: dict[str, object] = {}
    tags: dict[str, str] = {}
    lost: list[NotImported] = []
    for name, value in given.values.items():
        if value is None or name == "job_name":
            continue
        key, *inner = _QUEUE_KEYS.get(str(name), (str(name),))
        try:
            plain = variables.json(value, str(name))
        except NotResolved as why:
            lost.append(NotImported((QUEUE, str(name)), f"{why}; set `queue.{key}`"))
            continue
        if name == "tags":
            tags = {str(tag): str(text) for tag, text in structure(plain).items() if not holds_mark(str(tag))}
            continue
        found = member(plain, *inner)
        row = ROW.get(f"{QUEUE}.{key}")
        is_text = isinstance(found, str) and found and not inner and key != "priority"
        if row is None or not (is_text or (isinstance(found, int) and key not in _TEXTS)):
            lost.append(NotImported((QUEUE, str(name)), f"set `queue.{key}`" if row else "the spec has no such key"))
            continue
        keys[key] = found if is_text else row.written(found)
        lost += [
            NotImported((QUEUE, str(name), each), "the spec has no such key")
            for each, value_of in structure(plain).items()
            if inner and each not in inner and value_of
        ]
    if keys.get("name") and "timeout" not in given.values:
        keys["timeout"] = _USUAL_TIMEOUT
    return QueueArguments(keys=keys, tags=tags, not_imported=tuple(lost))


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkRequest:
    """``request`` has no hyperparameters that the keys of the spec add. ``switches`` are those that no key adds.

    ``additions``: what the SDK adds by itself. ``region`` None: no key needs one. ``delivery``: how the code gets to
    the container, without network isolation. ``queue``: the key of that name.
    ``dependencies``: paths that the SDK adds to the source.
    """

    request: dict[str, object]
    stem: str
    region: object
    source: EntrySource | None
    launch: Launch
    switches: dict[str, object]
    additions: tuple[str, ...]
    not_imported: tuple[NotImported, ...]
    dependencies: tuple[str, ...]
    delivery: str = "s3"
    queue: dict[str, object] = field(default_factory=dict)


def put(request: dict[str, object], path: tuple[str, ...], value: object) -> None:
    """Set the member at ``path``; objects that are missing on the way are created."""
    holder = request
    for name in path[:-1]:
        inner = holder.setdefault(name, {})
        if not isinstance(inner, dict):
            return
        holder = inner
    holder[path[-1]] = value
