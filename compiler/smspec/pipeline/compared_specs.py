"""Find the specs of one state of a repository that a comparison is about: each path that `build` accepts as a job.

A search lists a job once, by one of its paths, and leaves out what looks like output of smspec. Who submits names a
path, so a comparison takes them all: a spec that others extend, each link to a spec, and what a marker of the
repository's own hides.

A search also skips hidden directories and files that are not YAML by name: reading all of them takes long. A change is
a short list, so a comparison with a revision can look at each file of it (`unsearched_specs`).
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from pathlib import PurePath

from smspec.pipeline.affected_specs import affected_by, check_checkout, unread_notice, unread_submodules
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.spec_discovery import (
    ENDINGS,
    Candidates,
    NoJobs,
    is_job,
    is_job_at,
    is_searched,
    is_yaml,
    job_specs,
    outline,
    plain_outline,
    specs_below,
    take,
)
from smspec.pipeline.untouched_specs import UntouchedSpecs
from smspec.pipeline.variants import Gathered, are_same, compile_variants, gather_variants, misplaced
from smspec.source.frozen import dataclass
from smspec.source.real_file import MOST_LINKS, is_below
from smspec.spec.layers.variables import OptionError
from smspec.spec.yaml.events import MAX_BYTES
from smspec.workspace.git import (
    LINK,
    SUBMODULE,
    GitFailed,
    GitObjects,
    Repository,
    StagedFile,
    checked_repository,
)
from smspec.workspace.path_targets import is_directory, place_of
from smspec.workspace.revision import place_below
from smspec.workspace.source_walk import MARKERS, is_output_of_ours
from smspec.workspace.spec_reading import has_spec_key, is_meant_as_spec, is_spec_file
from smspec.workspace.working_tree import ChangedFiles

_USUAL_ENDINGS = (*ENDINGS, ".json")
"""Other files are read only if they change: there may be many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSpec:
    """``path`` on disk, and ``place``: from the top of the repository. ``is_found``: a search lists it as a job."""

    path: str
    place: str
    is_found: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    """The paths in a directory without links, the ``top``, that git tracks; all of them if ``paths`` is None.

    ``modules``: submodules that git cannot read; a commit brought all that is in them. ``sparse``: what a sparse
    checkout leaves out, each with its path and repository. ``linked``: those of the paths that are links.
    """

    top: str
    paths: frozenset[str] | None
    modules: tuple[str, ...] = ()
    sparse: tuple[tuple[str, Repository, StagedFile], ...] = ()
    linked: tuple[str, ...] = ()

    def absent(self) -> set[str]:
        """Return the whole paths of the files that a sparse checkout left out."""
        return {path for path, _, _ in self._absent()}

    def absent_specs(self, changed: Iterable[str]) -> set[str]:
        """Return those of some changed files that a sparse checkout left out, and that are specs: by their objects.

        A link is one if it leads to one. A file whose object is not here, as in a partial clone, is one by its name.
        """
        found = {path: (repository, file) for path, repository, file in self._absent()}
        wanted = found.keys() & changed
        if not wanted:
            return set()
        tracked = [os.path.join(self.top, name) for name in self.paths or () if is_yaml(name)]
        with ExitStack() as opened:
            objects: dict[str, GitObjects] = {}
            known: dict[str, bool] = {}

            def is_spec(path: str, links: int = 0) -> bool:
                if path not in known:
                    known[path] = False  # a circle of links
                    known[path] = links <= MOST_LINKS and may_be_spec(path, links)
                return known[path]

            def may_be_spec(path: str, links: int) -> bool:
                if path not in found:
                    if any(above in found for above in map(str, PurePath(path).parents)):
                        return True  # through a link that is not here either
                    inside = (other for other in tracked if other != path and is_below(other, path))
                    return self._is_spec_here(path) or any(is_spec(other, links + 1) for other in inside)
                repository, file = found[path]
                if file.mode == SUBMODULE:
                    return False
                if repository.top not in objects:
                    objects[repository.top] = opened.enter_context(repository.objects())
                try:
                    (content,) = objects[repository.top].contents([file.object])
                except GitFailed:
                    return is_yaml(path)
                if file.mode == LINK:
                    target = os.path.join(os.path.dirname(path), os.fsdecode(content))
                    return is_spec(os.path.normpath(target), links + 1)
                return len(content) <= MAX_BYTES and (is_meant_as_spec if is_yaml(path) else has_spec_key)(content)

            return {path for path in wanted if is_spec(path)}

    def _is_spec_here(self, path: str) -> bool:
        """Return whether a file of the working tree, inside of it, is a spec."""
        try:
            real = os.path.realpath(path)
            if not is_below(real, self.top) or not os.path.isfile(real):
                return False
            with open(real, "rb") as file:
                return is_spec_file(file)
        except (OSError, ValueError):
            return False

    def _absent(self) -> Iterator[tuple[str, Repository, StagedFile]]:
        paths = ((os.path.join(self.top, path), repository, file) for path, repository, file in self.sparse)
        return (one for one in paths if not os.path.lexists(one[0]))

    def has(self, path: str) -> bool:
        """Return whether git tracks a file or link."""
        parent, name = os.path.split(path)
        inside = os.path.relpath(os.path.join(os.path.realpath(parent), name), self.top).replace(os.sep, "/")
        return self.paths is None or inside in self.paths or any(is_below(inside, module) for module in self.modules)

    def links(self) -> Iterator[str]:
        """Yield the whole paths of links."""
        return (os.path.join(self.top, name) for name in self.linked)

    def hides(self, directory: str) -> bool:
        """Return whether a directory is output of smspec: a marker that a commit brings proves nothing."""
        return is_output_of_ours(directory) and not any(
            self.has(path) for path in (os.path.join(directory, name) for name in MARKERS) if os.path.lexists(path)
        )


def tracked_files(repository: Repository) -> Tracked:
    """Return what the indexes of a repository and of its submodules have. Raise `GitFailed` for that of the first."""
    paths: set[str] = set()
    sparse: list[tuple[str, Repository, StagedFile]] = []
    unread: list[str] = []
    linked: list[str] = []
    ahead = [(repository, "")]
    while ahead:
        here, prefix = ahead.pop()
        try:
            staged = here.staged
        except GitFailed:
            if not prefix:
                raise
            unread.append(prefix)
            continue
        paths.update(os.path.join(prefix, file.path) for file in staged)
        linked += [os.path.join(prefix, file.path) for file in staged if file.mode == LINK]
        sparse += [(os.path.join(prefix, file.path), here, file) for file in staged if file.is_sparse]
        for module in (os.path.join(prefix, file.path) for file in staged if file.mode == SUBMODULE):
            try:
                ahead.append((checked_repository(os.path.join(repository.top, module)), module))
            except GitFailed:
                unread.append(module)
    return Tracked(
        top=repository.top, paths=frozenset(paths), modules=tuple(unread), sparse=tuple(sparse), linked=tuple(linked)
    )


def compared_specs(
    paths: Iterable[str], cache: InputCache, tracked: Tracked, among: Mapping[str, bytes] | None = None
) -> dict[str, ComparedSpec]:
    """Return the specs for some paths, those that do not exist left out, by their places.

    ``among``: those of the only path that count, with their contents, if they have been found.
    Raise `OptionError` for too many links, OSError if the disk fails.
    """
    listed: dict[str, bool] = {}
    named: set[str] = set()
    is_searched_below = functools.cache(_is_searched_below)
    for path in paths:
        if is_directory(path):
            boundary = cache.searched(path)
            below = specs_below(path, boundary, [], tracked.hides, tracked.has) if among is None else among.items()
            for spec, content in below:
                if _taken(spec, cache, content):
                    listed.setdefault(spec, is_yaml(spec) and is_searched_below(path, _directory(spec)))
        elif os.path.lexists(path) and _taken(path, cache):
            listed[path] = True
            named.add(cache.identity(path))
    # A file has one outline for the search: that of the first path which it reads.
    found: dict[str, str] = {}
    for spec in sorted(listed, key=lambda spec: not listed[spec]):
        found.setdefault(cache.identity(spec), spec)
    candidates = Candidates(asked=(), found=found, named=frozenset(named), outside=())
    outlines = {spec: plain_outline(spec, cache) for spec in listed}
    try:
        jobs = job_specs(candidates, [outlines[spec] for spec in found.values()], cache).jobs
    except NoJobs:
        jobs = ()
    searched = {cache.identity(path) for path in jobs}
    specs = (
        ComparedSpec(
            path=spec,
            place=_place(spec, tracked.top, cache),
            is_found=is_read and cache.identity(spec) in searched,
        )
        for spec, is_read in listed.items()
        if (of_it := outlines[spec]) is None or is_job(of_it, cache, is_named=cache.identity(spec) in named)
    )
    return {spec.place: spec for spec in specs}


def is_no_job(path: str, cache: InputCache) -> bool:
    """Return whether a path leads to no spec, or to a base spec, which is no job."""
    try:
        of_it = outline(path, cache)
    except (OptionError, OSError):
        return True
    return not cache.is_meant_as_spec(path) or (of_it is not None and not is_job(of_it, cache))


def _taken(path: str, cache: InputCache, content: bytes | None = None) -> bool:
    """Read a spec; return whether there is one, possibly one with errors."""
    try:
        take(path, cache, content)
    except OptionError:  # a link to nothing, or a directory
        return False
    return True


def _is_searched_below(directory: str, parent: str) -> bool:
    """Return whether a search of a directory reads files in one below: no link and no output is on the way."""
    top = os.path.realpath(directory)
    real = os.path.realpath(parent)
    return real == os.path.normpath(os.path.join(top, os.path.relpath(parent, directory))) and is_searched(real, top)


def _directory(path: str) -> str:
    return os.path.dirname(path) or os.curdir


def _place(path: str, top: str, cache: InputCache) -> str:
    """Return what `place_below` does."""
    whole = os.path.abspath(path)
    is_real = cache.identity(path) == whole and is_below(whole, os.path.join(top, ""))
    return whole[len(os.path.join(top, "")) :] if is_real else place_below(path, top)


def unsearched_specs(
    changed: ChangedFiles,
    paths: Iterable[str],
    known: Iterable[str],
    settings: Mapping[str, str],
    tracked: Tracked,
    cache: InputCache,
    skipped: AbstractSet[str] = frozenset(),
) -> tuple[str, ...]:
    """Return the real places of such specs below those of some paths that are directories, except the known ones.

    A spec that did not change is found if git tracks it, and its name is that of a YAML or JSON file. ``skipped``: what
    git tracks, and no change affects.
    """
    places: set[str] = set()
    for path in known:
        whole = os.path.abspath(path)
        places.update((whole,) if cache.identity(path) == whole else (place_of(path), whole))
    tops = {os.path.realpath(path) for path in paths if is_directory(path)}
    found = {path for top in tops for path in changed.below(top)}
    names = (name for name in tracked.paths or () if name.lower().endswith(_USUAL_ENDINGS) and name not in skipped)
    others = {os.path.join(tracked.top, name) for name in names}
    below = (path for path in others - found - places if any(is_below(path, top) for top in tops))
    jobs = {path for path in found - places if is_job_at(path, cache)}
    jobs.update(affected_by(changed, [path for path in below if is_job_at(path, cache)], settings, cache))
    return tuple(sorted(jobs))


def absent_specs(changed: ChangedFiles, tops: Iterable[str], tracked: Tracked) -> set[str]:
    """Return the changed files below some real directories that a sparse checkout lacks, and that may be specs."""
    return tracked.absent_specs(path for top in tops for path in changed.below(top))


def unlisted_specs(
    changed: ChangedFiles,
    paths: list[str],
    specs: Iterable[str],
    settings: Mapping[str, str],
    cache: InputCache,
    untouched: UntouchedSpecs | None = None,
) -> dict[str, bool]:
    """Return the paths of all such specs, and of affected jobs for some paths, but for those that ``specs`` make.

    ``untouched``: specs that are none of them.
    Each with whether it can be compiled: otherwise, a value of ``--set`` or ``--region`` is missing. Raise `GitFailed`,
    and `OptionError` for too many links.
    """
    if not changed.paths:
        return {}
    known = {_place(path, changed.repository.top, cache): path for path in specs}
    tracked = tracked_files(changed.repository)
    tops = [os.path.realpath(path) for path in paths]
    check_checkout(tracked.absent(), known.values(), absent_specs(changed, tops, tracked), cache)
    listed = compared_specs(paths, cache, tracked, None if untouched is None else untouched.others)
    made_from = {*known.values(), *(spec.path for spec in listed.values())}
    if notice := unread_notice(unread_submodules(changed, tops, made_from, cache)):
        raise GitFailed(notice)
    skipped = set() if untouched is None else untouched.places()
    hidden = unsearched_specs(changed, paths, made_from, settings, tracked, cache, skipped)
    others = [spec.path for place, spec in listed.items() if place not in known]
    affected = affected_by(changed, others, settings, cache)
    made = {path: gather_variants(path, None, settings, cache) for path in (*hidden, *affected)}
    twins = {cache.identity(path): path for path in known.values()}

    def is_repeated(path: str) -> bool:
        twin = None if path in hidden and not os.path.islink(path) else twins.get(cache.identity(path))
        return twin is not None and are_same(made[path], gather_variants(twin, None, settings, cache))

    sides = {path: compile_variants(side) for path, side in made.items() if not is_repeated(path)}
    gathered = {path: made[path] for path in sides}
    for path, side in sides.items():
        twin = twins.get(cache.identity(path), path)
        if side.lacks_files and twin not in gathered:
            gathered[twin] = gather_variants(twin, None, settings, cache)
    elsewhere = misplaced(("", gathered, sides))
    return {
        os.path.relpath(path): bool(side.compiled)
        for path, side in sorted(sides.items())
        if side.compiled or (side.is_open and path not in elsewhere)
    }


def repeated_specs(old: Mapping[str, Gathered], new: Mapping[str, Gathered], base: str, top: str) -> list[str]:
    """Return the places that are links to one spec, now and before, and make the same job as its own path."""

    def target(place: str, directory: str) -> str:
        return os.path.relpath(os.path.realpath(os.path.join(directory, place)), directory)

    return [
        place
        for place in old.keys() & new.keys()
        if (twin := target(place, top)) != place
        and target(place, base) == twin
        and twin in old
        and twin in new
        and are_same(old[place], old[twin])
        and are_same(new[place], new[twin])
    ]
