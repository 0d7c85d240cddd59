"""Find the job specs in a list of files and directories, and the unused base specs next to them."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from smspec.diagnostics import InvalidInput
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import read_spec_files
from smspec.source import Document
from smspec.source.frozen import dataclass
from smspec.source.real_file import is_below, walked
from smspec.spec.layers import WHOLE_JOB, extends_of, has_name, is_base, is_nameless_job, overlay_names
from smspec.spec.layers.variables import OptionError
from smspec.spec.yaml.events import MAX_BYTES
from smspec.workspace.boundary import Boundary, FileNotRead
from smspec.workspace.boundary_search import repository_above
from smspec.workspace.path_targets import is_directory
from smspec.workspace.source_walk import MARKERS, MOST_DIRECTORY_LINKS, is_output_of_ours
from smspec.workspace.spec_reading import has_spec_key, is_meant_as_spec

if TYPE_CHECKING:
    from smspec.spec.yaml.plain_text import PlainText

ENDINGS = (".yaml", ".yml")
"""How the names of files end that a search reads, in any case."""

SIMPLE_PATH = re.compile(r"[A-Za-z0-9_./-]+\.ya?ml")

_NEVER_SEARCHED = frozenset({"__pycache__", "node_modules"})


class NoJobs(OptionError):
    """The paths exist, but contain no job. ``outside``: YAML files that are links out of the repository."""

    def __init__(self, message: str, outside: tuple[str, ...]) -> None:
        super().__init__(message)
        self.outside = outside


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveredSpecs:
    """The paths of the jobs that were found, and of base specs below searched directories that none of them extends.

    ``extended``: those with a name that others extend. ``outside``: YAML files below searched directories that are
    links out of the repository, and were not read.
    """

    jobs: tuple[str, ...]
    unused_bases: tuple[str, ...]
    searched: bool
    extended: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()

    @property
    def is_repository(self) -> bool:
        """Whether to compare the jobs: a directory was searched, or there are several."""
        return self.searched or len(self.jobs) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The files that may be job specs: ``found`` by real path; ``named``: those that were not found by a search.

    ``outside``: as in `DiscoveredSpecs`.
    """

    asked: tuple[str, ...]
    found: dict[str, str]
    named: frozenset[str]
    outside: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What the discovery needs to know of one file. ``extends``: the paths of base specs; None: it is malformed.

    ``is_alone``: no other file can set its name, nor an overlay.
    """

    path: str
    is_base: bool
    is_nameless_job: bool
    is_alone: bool
    extends: tuple[str, ...] | None


def find_job_specs(paths: Iterable[str], cache: InputCache) -> DiscoveredSpecs:
    """Return the job specs for ``paths``: in their order, sorted below a directory, without duplicates.

    A directory stands for the YAML files below it that have a top-level ``smspec``, except base specs: those without
    ``name``, also in what they extend. So is a file of the command line, unless only the name is missing. A spec that a
    different one extends is a base spec wherever it comes from, unless it extends that one too. Raise `OptionError` for
    a path that does not exist, and `NoJobs` for directories without a job.
    """
    candidates = find_candidates(paths, cache)
    return job_specs(candidates, [outline(path, cache) for path in candidates.found.values()], cache)


def find_candidates(paths: Iterable[str], cache: InputCache) -> Candidates:
    """Return the files for ``paths``, read and not parsed. Raise `OptionError` for a path that does not exist."""
    asked = tuple(paths)
    found: dict[str, str] = {}
    named: set[str] = set()
    outside: list[str] = []
    for path in asked:
        if is_directory(path):
            for spec, content in specs_below(path, cache.searched(path), outside, cache.is_output):
                if found.setdefault(cache.identity(spec), spec) == spec:
                    take(spec, cache, content)
        else:
            found.setdefault(cache.identity(path), path)
            named.add(cache.identity(path))
            take(path, cache)
    return Candidates(asked=asked, found=found, named=frozenset(named), outside=tuple(dict.fromkeys(outside)))


def outline(path: str, cache: InputCache) -> Outline | None:
    """Return the outline of the spec at ``path``; None if it cannot be parsed."""
    try:
        return _outline(cache.spec(path))
    except InvalidInput:
        return None  # reported when the job is checked


def plain_outline(path: str, cache: InputCache) -> Outline | None:
    """Return what `outline` does for a spec that was taken, mostly without parsing it."""
    text = cache.plain(path)
    extends = None if text is None else plain_extends(text)
    # An overlay may have the name.
    if text is None or extends is None or ("name" not in text.values and "overlays" in text.values):
        return outline(path, cache)
    name = cache.name(path)
    is_base = "name" not in text.values
    lacks_nothing = "smspec" not in text.values or all(key in text.values for key in WHOLE_JOB)
    return Outline(
        path=name,
        is_base=is_base,
        is_nameless_job=is_base and lacks_nothing,
        is_alone=not extends and "overlays" not in text.values,
        extends=tuple(os.path.normpath(os.path.join(os.path.dirname(name), written)) for written in extends),
    )


def plain_extends(text: PlainText) -> tuple[str, ...] | None:
    """Return the base specs of a plain text as they are written; None if they are not simply paths."""
    value = text.values.get("extends", "[]").strip()
    if value.startswith("["):
        written = tuple(item.strip() for item in value[1:-1].split(",")) if value != "[]" else ()
    else:
        written = text.items.get("extends", ("",)) if not value else ("",)
    return written if all(map(SIMPLE_PATH.fullmatch, written)) else None


def is_job(of_it: Outline, cache: InputCache, *, is_named: bool = False) -> bool:
    """Return whether a file is a job, unless others extend it: it has a name, maybe that of a base spec or an overlay.

    ``is_named``: by the command line.
    """
    if not of_it.is_base or (is_named and of_it.is_nameless_job):
        return True
    if of_it.is_alone:
        return False
    try:
        return has_name(read_spec_files(of_it.path, cache).documents)
    except (InvalidInput, OptionError):
        return False


def job_specs(candidates: Candidates, outlines: Iterable[Outline | None], cache: InputCache) -> DiscoveredSpecs:
    """Return those of the candidates that are job specs, given the outline of each; raise `NoJobs`."""
    found = candidates.found
    known = {at: outline for at, outline in zip(found, outlines, strict=True) if outline is not None}
    extended, is_whole = _extended({**known}, cache)
    is_whole = is_whole and len(known) == len(found)
    bases_of_any = {base for bases in extended.values() for base in bases}
    bases = {base for base in bases_of_any if not _is_in_a_circle(base, extended)}
    of_name = {
        identity: path
        for identity, path in found.items()
        # Check a file that could not be read again, so that its errors are reported.
        if identity not in known or is_job(known[identity], cache, is_named=identity in candidates.named)
    }
    jobs = tuple(path for identity, path in of_name.items() if identity not in bases)
    if not jobs and not candidates.named:
        outside = candidates.outside
        unread = f"; smspec did not read `{outside[0]}`, a link out of the repository" if outside else ""
        raise NoJobs(f"no job spec found in {', '.join(f'`{path}`' for path in candidates.asked)}{unread}", outside)
    needed = {*map(cache.identity, jobs), *bases_of_any, *candidates.named}
    # A file that could not be read may extend any of them.
    unused = tuple(path for identity, path in found.items() if identity not in needed) if is_whole else ()
    searched = any(map(is_directory, candidates.asked))
    named = tuple(path for identity, path in of_name.items() if identity in bases)
    return DiscoveredSpecs(
        jobs=jobs, unused_bases=unused, searched=searched, extended=named, outside=candidates.outside
    )


def specs_below(
    directory: str,
    boundary: Boundary,
    outside: list[str],
    is_output: Callable[[str], bool],
    follows: Callable[[str], bool] | None = None,
) -> Iterator[tuple[str, bytes | None]]:
    """Yield the specs below a directory with their content; None for more than the size limit of a spec.

    YAML files that are not read because they are ``outside`` are added there. ``is_output``: whether smspec wrote a
    directory. ``follows``: which links to directories inside are entered; by default none. Raise `OptionError` if these
    are too many.
    """
    ahead: list[tuple[str, tuple[str, ...]]] = [(directory, ())]
    links = 0
    while ahead:
        start, trail = ahead.pop()
        for parent, directories, files in walked(start):
            if parent != directory and not MARKERS.isdisjoint(files) and is_output(os.path.realpath(parent)):
                directories.clear()  # the model of a job may contain its spec
                continue
            directories[:] = sorted(filter(is_entered, directories))
            for path in (os.path.join(parent, name) for name in directories):
                if follows is not None and os.path.islink(path) and boundary.is_directory(path) and follows(path):
                    target, way = os.path.realpath(path), (*trail, os.path.realpath(parent))
                    if not any(is_below(place, target) for place in way):
                        links += 1
                        ahead.append((path, way))
            if links > MOST_DIRECTORY_LINKS:
                raise OptionError(f"`{directory}`: links lead to directories more than {MOST_DIRECTORY_LINKS:,} times")
            for name in sorted(files):
                path = os.path.normpath(os.path.join(parent, name))
                if not is_yaml(name):
                    continue
                if boundary.is_file(path):
                    content = boundary.read(path, MAX_BYTES)
                    if is_meant_as_spec(content):
                        yield path, content if len(content) <= MAX_BYTES else None
                elif not boundary.contains(path):
                    outside.append(path)


def is_searched(parent: str, directory: str) -> bool:
    """Return whether a search of a directory enters one below it: both are without links."""
    return skipped_above(os.path.join(parent, "_"), directory, _is_output) is None


def _is_output(directory: str) -> bool:
    """Return whether a directory is output of smspec; most have no marker, so they are not read."""
    return any(os.path.lexists(os.path.join(directory, name)) for name in MARKERS) and is_output_of_ours(directory)


def skipped_above(path: str, directory: str, is_output: Callable[[str], bool]) -> str | None:
    """Return the first directory on the way to a file below another that a search does not enter; None without one."""
    above = directory
    for name in os.path.relpath(path, directory).split(os.sep)[:-1]:
        above = os.path.join(above, name)
        if not is_entered(name) or is_output(above):
            return above
    return None


def skipped_specs(paths: Iterable[str], cache: InputCache) -> dict[str, str]:
    """Return the job specs that git tracks, in files named like YAML, and a search of some directories skips.

    Each with the directory that it does not enter. None without git, or without a repository.
    """
    # Imported late: it starts git.
    from smspec.workspace.git import GitFailed, checked_repository

    found: dict[str, str] = {}
    for directory in filter(is_directory, paths):
        above = repository_above(directory)
        if above is None:
            continue
        try:
            repository = checked_repository(os.path.realpath(above))
            tracked = repository.tracked()
        except GitFailed:
            continue
        top = os.path.realpath(directory)

        @functools.cache
        def is_output(place: str) -> bool:
            return any(os.path.lexists(os.path.join(place, name)) for name in MARKERS) and cache.is_output(place)

        for path in (os.path.join(repository.top, name) for name in tracked if is_yaml(name)):
            skipped = skipped_above(path, top, is_output) if is_below(path, top) else None
            if skipped is not None and not os.path.islink(path) and is_job_at(path, cache):
                found[os.path.relpath(path)] = os.path.relpath(skipped)
    return found


def is_job_at(path: str, cache: InputCache) -> bool:
    """Return whether a file is a job spec by what it contains, whatever its name, and wherever it is."""
    path = os.path.relpath(path)  # the name of its text
    boundary = cache.boundary(os.path.dirname(path))
    try:
        content = boundary.read(path, MAX_BYTES) if boundary.is_file(path) else b""
        if len(content) > MAX_BYTES or not has_spec_key(content):
            return False
        cache.take(path, content)
        of_it = outline(path, cache)
        # The name may be in a base spec that is not here.
        return of_it is not None and (is_job(of_it, cache) or bool(read_spec_files(path, cache).faults))
    except (FileNotRead, InvalidInput, OptionError, OSError):
        return False


def is_yaml(name: str) -> bool:
    return name.lower().endswith(ENDINGS)


def is_entered(directory: str) -> bool:
    """Return whether a search enters directories with a name."""
    return directory not in _NEVER_SEARCHED and not directory.startswith(".")


def take(path: str, cache: InputCache, content: bytes | None = None) -> None:
    """Read a candidate; what is wrong with it is reported when the job is checked."""
    try:
        cache.take(path, content)
    except InvalidInput:
        pass  # reported when the job is checked


def _outline(document: Document) -> Outline:
    path = document.texts[0].name
    try:
        written = extends_of(document)
    except InvalidInput:
        extends = None
    else:
        directory = os.path.dirname(path)
        extends = tuple(os.path.normpath(os.path.join(directory, words)) for words, _ in written)
    return Outline(
        path=path,
        is_base=is_base(document),
        is_nameless_job=is_nameless_job(document),
        is_alone=extends == () and not overlay_names(document),
        extends=extends,
    )


def _outline_of_base(path: str, cache: InputCache, boundary: Boundary) -> Outline | None:
    try:
        return _outline(cache.base(path, boundary))
    except (InvalidInput, FileNotRead):
        return None  # as above


def _extended(outlines: dict[str, Outline], cache: InputCache) -> tuple[dict[str, set[str]], bool]:
    """Return what every file extends, by real paths, and whether all of it could be read.

    Base specs in other directories are read too: they may extend more.
    """
    extended: dict[str, set[str]] = {}
    is_whole = True
    ahead = [(at, found, cache.boundary(os.path.dirname(found.path))) for at, found in outlines.items()]
    while ahead:
        identity, outline, boundary = ahead.pop()
        extended[identity] = set()
        if outline.extends is None:
            is_whole = False
            continue
        for base in outline.extends:
            if not boundary.is_file(base):
                is_whole = False
                continue
            there = cache.identity(base)
            extended[identity].add(there)
            if there not in outlines:
                read = _outline_of_base(base, cache, boundary)
                if read is None:
                    is_whole = False
                    continue
                outlines[there] = read
                ahead.append((there, read, boundary))
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
