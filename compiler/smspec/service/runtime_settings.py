"""Hyperparameters that are settings of the smspec runtime or of AWS's toolkit: processes to start, secrets to fetch.

A secret is named by its ARN. A name would be enough in its own region. An ARN also contains region, account, and
partition, so it can be checked, makes an exact policy, and shows in a diff that a secret is in a different account.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache

from smspec.service.facts import InstanceFacts, instance, table
from smspec.service.image_reference import ImageReference
from smspec.service.request import Request
from smspec.service.shapes import items, member, number, structure
from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec_runtime.run_plan import SECRET_ARN

SETTINGS = "sagemaker_smspec"
"""A hyperparameter of smspec: settings of its runtime, as JSON."""

_MPI, _MPI_PROCESSES = "sagemaker_mpi_enabled", "sagemaker_mpi_num_of_processes_per_host"
_DATA_PARALLEL = "sagemaker_distributed_dataparallel_enabled"
_GROUPS = "sagemaker_distribution_instance_groups"

_SECRETS = "secrets"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchedInstance:
    """A type of the instances that a launcher starts processes on. ``path`` is its path in the request."""

    path: Path
    kind: str
    facts: InstanceFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretReference:
    """``arn`` is without the field or version after it. ``is_secret``: it is in Secrets Manager."""

    arn: str
    partition: str
    region: str
    account: str
    name: str
    is_secret: bool


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


def has_secret_settings(hyperparameters: dict[str, object]) -> bool:
    """Return whether there may be secrets; reading them costs more, and few jobs have any."""
    return f'"{_SECRETS}"' in _settings(hyperparameters)


def secret_settings(request: Request) -> Mapping[str, str]:
    """Return the ARN of each variable; empty if there is none, or if the settings cannot be read."""
    return _read(_settings(structure(request.payload, "HyperParameters")))


def secret_path(variable: str) -> Path:
    """Return the path of a secret inside of the hyperparameter."""
    return ("HyperParameters", SETTINGS, _SECRETS, variable)


@lru_cache(maxsize=256)  # every rule reads them
def _read(settings: str) -> Mapping[str, str]:
    try:
        secrets = structure(json.loads(settings), _SECRETS)
    except (ValueError, RecursionError):
        return {}
    return {name: text if isinstance(text, str) else json.dumps(text) for name, text in secrets.items()}


def _settings(hyperparameters: dict[str, object]) -> str:
    """Return the settings, which long ones continue in further hyperparameters."""
    if SETTINGS not in hyperparameters:
        return ""
    names = [SETTINGS, *(f"{SETTINGS}_{part}" for part in range(1, len(hyperparameters)))]
    return "".join(str(hyperparameters[name]) for name in names if name in hyperparameters)


@lru_cache(maxsize=1024)  # the jobs of a repository share their secrets
def secret_reference(text: str) -> SecretReference | None:
    """Parse an ARN; None if it is not one of a secret or a parameter."""
    found = re.fullmatch(SECRET_ARN, text)
    if found is None:
        return None
    return SecretReference(
        arn=found["arn"],
        partition=found["partition"],
        region=found["region"],
        account=found["account"],
        name=found["name"],
        is_secret=found["is_secret"] is not None,
    )


_NAME = "launchers"
_OF_PYTORCH = ("pytorch", "pytorch-training")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedLauncher:
    """``last_version``: of PyTorch. ``as_of`` ends a sentence about what may have changed since."""

    types: frozenset[str]
    last_version: tuple[int, ...]
    as_of: str


@cache
def documented_data_parallel() -> DocumentedLauncher:
    """Return what AWS documents of its data parallelism library."""
    (row,) = table(_NAME).rows("smdataparallel")
    return DocumentedLauncher(
        types=frozenset(row["types"].split()),
        last_version=tuple(map(int, row["last_version"].split("."))),
        as_of=table(_NAME).as_of,
    )


def pytorch_version(image: ImageReference | None) -> tuple[int, ...] | None:
    """Return the version in the tag; None for any other image, or a tag without one."""
    if image is None or image.account is None or image.repository not in _OF_PYTORCH:
        return None
    match = re.match(r"([0-9]{1,3})\.([0-9]{1,3})(?:\.([0-9]{1,3}))?(?=-)", image.tag or "")
    return tuple(int(part or 0) for part in match.groups()) if match else None
