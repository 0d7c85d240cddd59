"""What a request says of the processes that its containers start, in hyperparameters of smspec and of the toolkit."""

from __future__ import annotations

import json

from smspec.service.facts.instances import Instance, instance
from smspec.service.members import items, member, number, structure
from smspec.service.request import Request
from smspec.source import Path
from smspec.source.frozen import dataclass

SETTINGS = "sagemaker_smspec"
"""A hyperparameter of smspec: settings of its runtime, as JSON."""

_MPI, _MPI_PROCESSES = "sagemaker_mpi_enabled", "sagemaker_mpi_num_of_processes_per_host"
_DATA_PARALLEL = "sagemaker_distributed_dataparallel_enabled"
_GROUPS = "sagemaker_distribution_instance_groups"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchedInstance:
    """A type of the instances that a launcher starts processes on. ``path`` is its path in the request."""

    path: Path
    kind: str
    facts: Instance


def processes_per_host(request: Request) -> tuple[Path, int] | None:
    """Return the number of processes that a launcher starts on each host, if it is set, and its path."""
    hyperparameters = structure(request.payload, "HyperParameters")
    settings = _decoded(hyperparameters.get(SETTINGS))
    processes = number(settings, "launcher", "processes_per_host")
    if processes is not None:
        return ("HyperParameters", SETTINGS, "launcher", "processes_per_host"), processes
    processes = number({"": _decoded(hyperparameters.get(_MPI_PROCESSES))}, "")
    if processes is None or not _is_true(hyperparameters.get(_MPI)):
        return None
    return ("HyperParameters", _MPI_PROCESSES), processes


def uses_data_parallel(request: Request) -> bool:
    """Return whether the launcher is SageMaker's distributed data parallelism library."""
    enabled = structure(request.payload, "HyperParameters").get(_DATA_PARALLEL)
    return request.launcher == "smdataparallel" or _is_true(enabled)


def launched_instances(request: Request) -> list[LaunchedInstance]:
    """Return the instance types with facts that certainly run the launched processes.

    Of preferred types SageMaker chooses one, so with any of them nothing is certain. The toolkit may start processes in
    some groups only.
    """
    hosts = structure(request.payload, "ResourceConfig")
    if items(hosts, "InstancePreferences"):
        return []
    chosen = _decoded(structure(request.payload, "HyperParameters").get(_GROUPS))
    groups = items(hosts, "InstanceGroups")
    found = []
    for path, kind in request.instance_types:
        index = path[2] if len(path) > 2 else None
        name = member(groups[index], "InstanceGroupName") if isinstance(index, int) else None
        if isinstance(chosen, list) and name is not None and name not in chosen:
            continue
        facts = instance(kind)
        if facts is not None:
            found.append(LaunchedInstance(path=path, kind=kind, facts=facts))
    return found


def _is_true(value: object) -> bool:
    return isinstance(value, str) and value.strip().strip('"').lower() == "true"


def _decoded(value: object) -> object:
    """Return what a hyperparameter contains as JSON; None if it contains anything else."""
    try:
        return json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return None
