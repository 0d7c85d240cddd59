"""The files of a job's script: copied from beside its program, or named by a job in SageMaker; and where they go.

`smspec import` of a directory writes one spec for each job, and one directory for each source.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from smspec.importer.imported import DEPENDENCIES, Imported, LocalCode, slug
from smspec.importer.marks import holds_mark, with_references
from smspec.service.shapes import items, member, structure
from smspec.source import ListedFile
from smspec.source.frozen import dataclass, replace
from smspec.workspace.boundary import Boundary
from smspec.workspace.source_listing import listed_file, scan_source
from smspec_runtime.run_plan import CODE_CHANNEL

_OUTSIDE = "it is outside of the directory or repository of the program; copy it"
_UNKNOWN = "its path is known only when the program runs; copy it"

SPEC = "job.yaml"
SOURCE = "src"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

_PROGRAM, _DIRECTORY = "sagemaker_program", "sagemaker_submit_directory"
_OWN = (_PROGRAM, _DIRECTORY, "sagemaker_container_log_level", "sagemaker_job_name", "sagemaker_region")
"""Hyperparameters of the SDK for its toolkit, about the source and the job: smspec sends its own."""
_PREFIX = "sagemaker_"
_ARCHIVE = "sourcedir.tar.gz"
_IN_CHANNEL = f"/opt/ml/input/data/{CODE_CHANNEL}/{_ARCHIVE}"
"""Where the SDK puts the archive of a job in network isolation."""
_TYPE = "sagemaker_instance_type"
_MPI = ("sagemaker_mpi_enabled", "sagemaker_mpi_num_of_processes_per_host", "sagemaker_mpi_custom_mpi_options")
_TORCHRUN, _DATA_PARALLEL = "sagemaker_torch_distributed_enabled", "sagemaker_distributed_dataparallel_enabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFiles:
    """``files``: path below the source directory → a file of this machine, or text that a cell writes.

    ``not_copied``: path, relative to the program → why it is missing.
    """

    files: dict[str, ListedFile | str]
    not_copied: dict[str, str]


def code_files(code: LocalCode, base: str, boundary: Boundary, skipped: Sequence[str] = ()) -> CodeFiles:
    """Return the files of a job's script.

    ``base`` is the directory of the program. Files outside of the boundary are not copied. ``skipped`` are not part of
    any source: the program itself, and the directory that is written.
    """
    reading = _Reading(base, boundary, skipped)
    reading.read(code)
    return CodeFiles(files=reading.files, not_copied=reading.faults)


class _Reading:
    def __init__(self, base: str, boundary: Boundary, skipped: Sequence[str]) -> None:
        self.base = base
        self.boundary = boundary
        self.skipped = skipped
        self.files: dict[str, ListedFile | str] = {}
        self.faults: dict[str, str] = {}

    def read(self, code: LocalCode) -> None:
        if holds_mark(code.directory) or holds_mark(code.script):
            self._lose(_joined(code.directory, code.script), _UNKNOWN)
            return
        if code.is_alone:
            self._add(code.script, _joined(code.directory, code.script))
        else:
            self._tree(code.directory, "", code.ignore)
        for path in code.dependencies:
            self._dependency(path)
        for path, text in code.written.items():
            # A cell writes its file when the notebook runs, over the one that may be there now.
            self._written(code, posixpath.relpath(path, code.directory), text)
        if code.script not in self.files and code.directory not in self.faults:
            self.faults.setdefault(_joined(code.directory, code.script), "it does not exist; copy it")

    def _written(self, code: LocalCode, path: str, text: str) -> None:
        if (path == code.script or not code.is_alone) and not path.startswith("../"):
            self.files[path] = text
            self.faults.pop(_joined(code.directory, path), None)

    def _dependency(self, path: str) -> None:
        name = posixpath.basename(posixpath.normpath(path))
        if holds_mark(path):
            self._lose(path, _UNKNOWN)
        elif os.path.isdir(os.path.join(self.base, path)):
            self._tree(path, f"{name}/")
        else:
            self._add(name, path)

    def _tree(self, directory: str, prefix: str, ignore: Sequence[str] = ()) -> None:
        place = os.path.join(self.base, directory)
        if not os.path.isdir(place):
            return  # cells may write all of its files
        if not self.boundary.contains(place):
            self._lose(directory, _OUTSIDE)
            return
        found = scan_source(place, ignore, exclude=self.skipped)
        self.files.update({prefix + file.path: file for file in found.listing.files})
        for fault in found.faults:
            self._lose(_joined(directory, fault.path), fault.detail or "smspec cannot send it")

    def _add(self, name: str, path: str) -> None:
        place = os.path.join(self.base, path)
        try:
            if self.boundary.is_file(place):
                self.files[name] = listed_file(name, os.path.realpath(place))
            elif os.path.exists(place):
                self._lose(path, "it is not a file" if self.boundary.contains(place) else _OUTSIDE)
            else:
                self._lose(path, "it does not exist; copy it")
        except (OSError, ValueError) as fault:
            self._lose(path, getattr(fault, "strerror", None) or "it cannot be read")

    def _lose(self, path: str, why: str) -> None:
        self.faults[with_references(path)] = why


def _joined(directory: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(directory, path))


def pieces_of(file: ListedFile | str) -> Iterator[bytes]:
    """Yield the content of a file."""
    if isinstance(file, str):
        yield file.encode("utf-8", "surrogatepass")
        return
    with open(file.origin, "rb") as content:
        while piece := content.read(1 << 20):
            yield piece


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedJob:
    """A job whose keys name ``source``, a directory below that of the specs; None without code to copy."""

    file: str
    imported: Imported
    source: str | None


def placed(jobs: Sequence[Imported]) -> tuple[PlacedJob, ...]:
    """Return the jobs with distinct names of files, and the directories of their code, which equal code shares."""
    files: set[str] = set()
    sources: dict[tuple[str, ...], str] = {}
    found: list[PlacedJob] = []
    for job in jobs:
        stem = slug(job.stem or str(job.request.get("TrainingJobName") or ""))
        name = distinct(stem, files) if len(jobs) > 1 else stem
        files.add(name)
        source = _source(job.code, sources) if job.code is not None else None
        # What is listed for a printed spec, the directory has.
        lost = tuple(part for part in job.not_imported if source is None or part.path != DEPENDENCIES)
        keeps = job.code is not None and not job.code.is_alone
        imported = replace(job, keys=_with_source(job.keys, source, keeps_ignore=keeps), stem=name, not_imported=lost)
        found.append(PlacedJob(file=SPEC if len(jobs) == 1 else f"{name}.yaml", imported=imported, source=source))
    return tuple(found)


def _with_source(keys: dict[str, object], source: str | None, *, keeps_ignore: bool) -> dict[str, object]:
    """Return keys of a job whose code is in ``source``, which has no other files now."""
    written = keys.get("source")
    if source is None or not isinstance(written, dict):
        return keys
    return {
        **keys,
        "source": {
            name: source if name == "dir" else written[name] for name in written if name != "ignore" or keeps_ignore
        },
    }


def distinct(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, with a number if need be."""
    found, count = name, 1
    while found in taken:
        count += 1
        found = f"{name}-{count}"
    return found


def _source(code: LocalCode, known: dict[tuple[str, ...], str]) -> str:
    key = (code.directory, code.script if code.is_alone else "", *code.dependencies, "", *code.ignore)
    if key not in known:
        last = posixpath.basename(code.directory)
        is_named = not code.is_alone and not holds_mark(code.directory) and _PLAIN.fullmatch(last)
        known[key] = distinct(last if is_named else SOURCE, set(known.values()))
    return known[key]


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
