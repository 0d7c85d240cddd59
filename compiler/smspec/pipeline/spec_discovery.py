"""Find the job specs in a list of files and directories, and the unused base specs next to them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from smspec.diagnostics import InvalidInput
from smspec.pipeline.input_cache import InputCache
from smspec.source import Document
from smspec.source.deep_directories import walked
from smspec.source.frozen import dataclass
from smspec.spec.layers.assembly import OptionError, extends_of, is_base, is_nameless_job
from smspec.spec.yaml.text_limits import MAX_BYTES
from smspec.workspace.boundary import Boundary, FileNotRead
from smspec.workspace.missing_path import is_directory
from smspec.workspace.spec_marker import is_meant_as_spec

_NEVER_SEARCHED = frozenset({"__pycache__", "node_modules"})


class NoJobs(OptionError):
    """The paths exist, but contain no job. ``outside``: YAML files that are links out of the repository."""

    def __init__(self, message: str, outside: tuple[str, ...]) -> None:
        super().__init__(message)
        self.outside = outside


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveredSpecs:
    """The paths of the jobs that were found, and of base specs below searched directories that none of them extends.

    ``outside``: YAML files below them that are links out of the repository, and were not read.
    """

    jobs: tuple[str, ...]
    unused_bases: tuple[str, ...]
    searched: bool
    outside: tuple[str, ...] = ()

    @property
    def is_repository(self) -> bool:
        """Whether to compare the jobs: a directory was searched, or there are several."""
        return self.searched or len(self.jobs) > 1


def find_job_specs(paths: Iterable[str], cache: InputCache) -> DiscoveredSpecs:
    """Return the job specs for ``paths``: in their order, sorted below a directory, without duplicates.

    A directory stands for the YAML files below it that have a top-level ``smspec``, except those without ``name``,
    which are base specs. So is a named file, unless only the name is missing. A spec that a different one extends is a
    base spec wherever it comes from, unless it extends that one too. Raise `OptionError` for a path that does not
    exist, and `NoJobs` for directories without a job.
    """
    paths = list(paths)
    found: dict[str, str] = {}
    named: set[str] = set()
    documents: dict[str, Document] = {}
    outside: list[str] = []
    for path in paths:
        if is_directory(path):
            for spec, content in _specs_below(path, cache.searched(path), outside):
                identity = cache.identity(spec)
                if found.setdefault(identity, spec) == spec:
                    _read(spec, cache, documents, content)
        else:
            found.setdefault(cache.identity(path), path)
            named.add(cache.identity(path))
            _read(path, cache, documents)

    extended, is_whole = _extended(documents, cache)
    is_whole = is_whole and all(identity in documents for identity in found)
    bases_of_any = {base for bases in extended.values() for base in bases}
    bases = {base for base in bases_of_any if not _is_in_a_circle(base, extended)}
    jobs = tuple(
        path
        for identity, path in found.items()
        # Check a file that could not be read again, so that its errors are reported.
        if identity not in bases and (identity not in documents or _is_job(documents[identity], identity in named))
    )
    if not jobs and not named:
        unread = f"; smspec did not read `{outside[0]}`, a link out of the repository" if outside else ""
        raise NoJobs(f"no job spec found in {', '.join(f'`{path}`' for path in paths)}{unread}", tuple(outside))
    needed = {*map(cache.identity, jobs), *bases_of_any, *named}
    # A file that could not be read may extend any of them.
    unused = tuple(path for identity, path in found.items() if identity not in needed) if is_whole else ()
    return DiscoveredSpecs(
        jobs=jobs, unused_bases=unused, searched=any(map(is_directory, paths)), outside=tuple(dict.fromkeys(outside))
    )


def _is_job(document: Document, is_named: bool) -> bool:
    return not is_base(document) or (is_named and is_nameless_job(document))


def _specs_below(directory: str, boundary: Boundary, outside: list[str]) -> Iterator[tuple[str, bytes | None]]:
    """Yield the specs below a directory with their content; None for more than the size limit of a spec.

    YAML files that are not read because they are ``outside`` are added there.
    """
    for parent, directories, files in walked(directory):
        directories[:] = sorted(d for d in directories if d not in _NEVER_SEARCHED and not d.startswith("."))
        for name in sorted(files):
            path = os.path.normpath(os.path.join(parent, name))
            if not name.endswith((".yaml", ".yml")):
                continue
            if boundary.is_file(path):
                content = boundary.read(path, MAX_BYTES)
                if is_meant_as_spec(content):
                    yield path, content if len(content) <= MAX_BYTES else None
            elif not boundary.contains(path):
                outside.append(path)


def _read(path: str, cache: InputCache, documents: dict[str, Document], content: bytes | None = None) -> None:
    try:
        documents[cache.identity(path)] = cache.spec(path, content)
    except InvalidInput:
        pass  # reported when the job is checked


def _read_base(path: str, cache: InputCache, documents: dict[str, Document], boundary: Boundary) -> None:
    try:
        documents[cache.identity(path)] = cache.base(path, boundary)
    except (InvalidInput, FileNotRead):
        pass  # as above


def _extended(documents: dict[str, Document], cache: InputCache) -> tuple[dict[str, set[str]], bool]:
    """Return what every file extends, by real paths, and whether all of it could be read.

    Base specs in other directories are read too: they may extend more.
    """
    extended: dict[str, set[str]] = {}
    is_whole = True
    ahead = [(at, found, cache.boundary(os.path.dirname(found.texts[0].name))) for at, found in documents.items()]
    while ahead:
        identity, document, boundary = ahead.pop()
        extended[identity] = set()
        try:
            written = extends_of(document)
        except InvalidInput:
            is_whole = False
            continue
        directory = os.path.dirname(document.texts[0].name)
        for base in (os.path.normpath(os.path.join(directory, words)) for words, _ in written):
            if boundary.is_file(base):
                there = cache.identity(base)
                extended[identity].add(there)
                if there not in documents:
                    _read_base(base, cache, documents, boundary)
                    ahead += [(there, documents[there], boundary)] if there in documents else []
                is_whole = is_whole and there in documents
            else:
                is_whole = False
    return extended, is_whole


def _is_in_a_circle(identity: str, extended: dict[str, set[str]]) -> bool:
    """Return whether a file extends itself through others."""
    reached: set[str] = set()
    ahead = list(extended.get(identity, ()))
    while ahead:
        base = ahead.pop()
        if base == identity:
            return True
        if base not in reached:
            reached.add(base)
            ahead += extended.get(base, ())
    return False
