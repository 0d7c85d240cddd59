"""Find affected job specs that a search of a directory does not list, and that `build` and `submit` accept by name.

A search skips hidden directories, output of smspec, and files that are not YAML by name: reading all of them takes
long. A change is a short list, so a comparison with a revision can look at each file of it. It also lists a file by one
path, and none that another spec extends: these are jobs at their own paths, too.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping

from smspec.diagnostics import InvalidInput
from smspec.pipeline.affected_specs import affected_by, check_checkout
from smspec.pipeline.compared_specs import Tracked, compared_specs, tracked_files
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.spec_discovery import ENDINGS, is_job, is_yaml, outline, skipped_above
from smspec.pipeline.variants import are_same, compile_variants, gather_variants
from smspec.source.path_containment import is_below
from smspec.spec.layers.option_errors import OptionError
from smspec.spec.yaml.text_limits import MAX_BYTES
from smspec.workspace.boundary import FileNotRead
from smspec.workspace.boundary_search import repository_above
from smspec.workspace.changed_files import ChangedFiles, place_of
from smspec.workspace.git import GitFailed, checked_repository
from smspec.workspace.path_targets import is_directory
from smspec.workspace.revision import place_below
from smspec.workspace.source_walk import MARKERS
from smspec.workspace.spec_marker import has_spec_key

_USUAL_ENDINGS = (*ENDINGS, ".json")
"""Other files are read only if they change: there may be many."""


def unsearched_specs(
    changed: ChangedFiles, paths: Iterable[str], known: Iterable[str], tracked: Tracked, cache: InputCache
) -> tuple[str, ...]:
    """Return the real places of such specs below those of some paths that are directories, except the known ones.

    A spec that did not change is found if git tracks it, and its name is that of a YAML or JSON file.
    """
    places = {place for path in known for place in (place_of(path), os.path.abspath(path))}
    tops = {os.path.realpath(path) for path in paths if is_directory(path)}
    found = {path for top in tops for path in changed.below(top)}
    names = (name for name in tracked.paths or () if name.lower().endswith(_USUAL_ENDINGS))
    others = {os.path.join(tracked.top, name) for name in names}
    below = (path for path in others - found - places if any(is_below(path, top) for top in tops))
    jobs = {path for path in found - places if is_job_at(path, cache)}
    jobs.update(affected_by(changed, [path for path in below if is_job_at(path, cache)], cache))
    return tuple(sorted(jobs))


def absent_specs(changed: ChangedFiles, tops: Iterable[str], tracked: Tracked) -> set[str]:
    """Return the changed files below some real directories that a sparse checkout lacks, and that may be specs."""
    return tracked.absent_specs(path for top in tops for path in changed.below(top))


def skipped_specs(paths: Iterable[str], cache: InputCache) -> dict[str, str]:
    """Return the job specs that git tracks, in files named like YAML, and a search of some directories skips.

    Each with the directory that it does not enter. None without git, or without a repository.
    """
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
        return of_it is not None and is_job(of_it, cache)
    except (FileNotRead, InvalidInput, OptionError, OSError):
        return False


def unlisted_specs(
    changed: ChangedFiles,
    paths: list[str],
    specs: Iterable[str],
    settings: Mapping[str, str],
    cache: InputCache,
) -> dict[str, bool]:
    """Return the paths of all such specs, and of affected jobs for some paths, but for those that ``specs`` make.

    Each with whether it can be compiled: otherwise, a value of ``--set`` or ``--region`` is missing. Raise `GitFailed`,
    and `OptionError` for too many links.
    """
    if not changed.paths:
        return {}
    known = {place_below(path, changed.repository.top): path for path in specs}
    tracked = tracked_files(changed.repository)
    tops = [os.path.realpath(path) for path in paths]
    check_checkout(tracked.absent(), known.values(), absent_specs(changed, tops, tracked), cache)
    listed = compared_specs(paths, cache, tracked)
    hidden = unsearched_specs(
        changed, paths, [*known.values(), *(spec.path for spec in listed.values())], tracked, cache
    )
    others = [spec.path for place, spec in listed.items() if place not in known]
    affected = affected_by(changed, others, cache)
    made = {path: gather_variants(path, None, settings, cache) for path in (*hidden, *affected)}
    twins = {cache.identity(path): path for path in known.values()}

    def is_repeated(path: str) -> bool:
        twin = None if path in hidden and not os.path.islink(path) else twins.get(cache.identity(path))
        return twin is not None and are_same(made[path], gather_variants(twin, None, settings, cache))

    sides = {path: compile_variants(side) for path, side in made.items() if not is_repeated(path)}
    return {
        os.path.relpath(p): bool(side.compiled) for p, side in sorted(sides.items()) if side.compiled or side.is_open
    }
