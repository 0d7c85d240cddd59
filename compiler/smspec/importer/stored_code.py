"""The script of a job in SageMaker, whose archive its hyperparameters name, as keys of a spec beside its files."""

from __future__ import annotations

import json
from collections.abc import Mapping

from smspec.importer.imported import Imported
from smspec.service.members import items, member, structure
from smspec.source.frozen import dataclass, replace
from smspec_runtime.run_plan import CODE_CHANNEL

SOURCE = "src"
"""The directory of the files, next to the spec."""

_PROGRAM, _DIRECTORY = "sagemaker_program", "sagemaker_submit_directory"
_OWN = (_PROGRAM, _DIRECTORY, "sagemaker_container_log_level", "sagemaker_job_name", "sagemaker_region")
"""What the SDK tells its toolkit about the source and the job: smspec sends its own."""
_PREFIX = "sagemaker_"
_ARCHIVE = "sourcedir.tar.gz"
_IN_CHANNEL = f"/opt/ml/input/data/{CODE_CHANNEL}/{_ARCHIVE}"
"""Where the SDK puts the archive of a job in network isolation."""
_TYPE = "sagemaker_instance_type"
_MPI = ("sagemaker_mpi_enabled", "sagemaker_mpi_num_of_processes_per_host", "sagemaker_mpi_custom_mpi_options")
_TORCHRUN, _DATA_PARALLEL = "sagemaker_torch_distributed_enabled", "sagemaker_distributed_dataparallel_enabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCode:
    """``uri`` of an archive in S3, and the ``script`` in it."""

    uri: str
    script: str


def stored_code(request: Mapping[str, object]) -> StoredCode | None:
    """Return where a job has its script; None if its request does not name an archive in S3."""
    sent = {name: _decoded(text) for name, text in structure(request, "HyperParameters").items()}
    uri, script = sent.get(_DIRECTORY), sent.get(_PROGRAM)
    if uri == _IN_CHANNEL:
        given = member(_code_channel(request), "DataSource", "S3DataSource", "S3Uri")
        is_whole = isinstance(given, str) and given.endswith(_ARCHIVE)
        uri = given if is_whole or not isinstance(given, str) else f"{given.rstrip('/')}/{_ARCHIVE}"
    if not isinstance(uri, str) or not uri.startswith("s3://") or not isinstance(script, str) or not script:
        return None
    return StoredCode(uri=uri, script=script)


def _code_channel(request: Mapping[str, object]) -> object:
    return next(
        (each for each in items(request, "InputDataConfig") if member(each, "ChannelName") == CODE_CHANNEL), None
    )


def with_source(found: Imported, code: StoredCode) -> Imported:
    """Return the import with `source`, `entry_point`, and `distribution` in place of what the SDK sends for them.

    It is named after the job, but has no exact name: SageMaker accepts each once. Other hyperparameters of the toolkit
    stay, below `api`.
    """
    parameters = structure(found.request, "HyperParameters")
    plain = {name: text for name, text in parameters.items() if not name.startswith(_PREFIX)}
    switches = {name: text for name, text in parameters.items() if name.startswith(_PREFIX) and name not in _OWN}
    launcher, covered = _launcher({name: _decoded(text) for name, text in switches.items()}, found.request)
    rest = {name: text for name, text in switches.items() if name not in covered}
    request = {
        name: value for name, value in found.request.items() if name not in ("HyperParameters", "TrainingJobName")
    }
    if plain:
        request["HyperParameters"] = plain
    if _decoded(parameters.get(_DIRECTORY)) == _IN_CHANNEL:
        own = _code_channel(request)
        channels = [each for each in items(request, "InputDataConfig") if each is not own]
        request = (
            {**request, "InputDataConfig": channels}
            if channels
            else {name: value for name, value in request.items() if name != "InputDataConfig"}
        )
    is_isolated = found.request.get("EnableNetworkIsolation") is True  # the toolkit cannot download an archive then
    keys: dict[str, object] = {
        "source": {"dir": SOURCE, "delivery": "channel" if is_isolated else "s3"},
        "entry_point": code.script,
    }
    if launcher is not None:
        keys["distribution"] = launcher
    patch = {**found.patch, "HyperParameters": rest} if rest else found.patch
    stem = str(found.request.get("TrainingJobName") or found.stem)
    return replace(found, request=request, keys=keys, patch=patch, stem=stem)


def _launcher(sent: Mapping[str, object], request: Mapping[str, object]) -> tuple[object, set[str]]:
    """Return `distribution` and the hyperparameters that it sends; None if no key says what they say."""
    enabled = [name for name, value in sent.items() if name.endswith("_enabled") and value is True]
    if len(enabled) != 1:
        return None, set()
    own = {enabled[0]}
    if member(request, "ResourceConfig", "InstanceType") == sent.get(_TYPE, ""):
        own.add(_TYPE)
    if enabled == [_TORCHRUN] and _TYPE in own:
        return "torchrun", own
    if enabled == [_DATA_PARALLEL] and _TYPE in own:
        return "smdataparallel", own
    return _mpi(sent) if enabled == [_MPI[0]] else (None, set())


def _mpi(sent: Mapping[str, object]) -> tuple[object, set[str]]:
    processes, options = (sent.get(name) for name in _MPI[1:])
    key: dict[str, object] = {}
    if isinstance(processes, int):
        key["processes_per_host"] = processes
    if isinstance(options, str) and options.split():
        key["options"] = options.split()
    return {"mpi": key} if key else "mpi", {name for name in _MPI if name in sent}


def _decoded(text: object) -> object:
    """Return what the toolkit reads: JSON, or else the text."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text
