"""Find the job specs that a change affects: those with a changed file among all that their jobs are made from.

Files are compared, not compiled jobs: that costs as much as checking all, and misses a changed policy.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType

from smspec.diagnostics import InvalidInput
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import SpecFiles, assembly, read_spec_files
from smspec.pipeline.named_files import REQUIREMENTS, SOURCE
from smspec.pipeline.variants import declared_variables
from smspec.source.real_file import is_below
from smspec.spec.layers import extends_of
from smspec.spec.layers.variables import OptionError
from smspec.spec.lock import DIRECTORY as LOCK_DIRECTORY
from smspec.workspace.boundary_search import SETTINGS
from smspec.workspace.git import FOR_CHECKOUTS, GitFailed, Repository, repository_of
from smspec.workspace.path_targets import places_on_the_way
from smspec.workspace.settings_files import is_of_lock, is_settings
from smspec.workspace.working_tree import ChangedFiles

_FOR_ALL_BELOW = frozenset({*SETTINGS, ".gitignore", ".gitattributes", ".dockerignore"})
"""Files that count for all specs in their directory and below, or whose sources are there."""


def repository_at(searched: str) -> Repository:
    """Return the repository of a path that is searched, which need not exist. Raise `GitFailed`."""
    return repository_of(searched if os.path.isdir(searched) else _directory(searched))


def changed_files(searched: str, revision: str) -> ChangedFiles | None:
    """Return what changed since a revision in the repository of a path; None where `affected_specs` raises."""
    try:
        return ChangedFiles(repository_at(searched), revision)
    except GitFailed:
        return None


def affected_specs(
    specs: Iterable[str],
    searched: str,
    revision: str,
    settings: Mapping[str, str],
    cache: InputCache,
    changed: ChangedFiles | None = None,
) -> tuple[tuple[str, ...], ChangedFiles]:
    """Return those of some job specs that files affect which changed since a revision, and these files.

    ``settings``: values of variables, which may decide about the files. ``changed``: the files, if they are known.

    The repository is that of the path which was searched: the first spec may be in a submodule. A spec that cannot be
    read counts if any file in its directory changed. Raise `GitFailed` without a repository or a revision, or for a
    spec outside of the repository.
    """
    paths = tuple(specs)
    changed = changed or ChangedFiles(repository_at(searched), revision)
    for path in paths:
        changed.check(path)
    return affected_by(changed, paths, settings, cache), changed


def affected_by(
    changed: ChangedFiles, specs: Iterable[str], settings: Mapping[str, str], cache: InputCache
) -> tuple[str, ...]:
    """Return those of some specs that changed files affect."""
    deciding = (path for path in changed.paths if _is_for_all_below(path) or os.path.basename(path) in FOR_CHECKOUTS)
    reach = {*map(_reach, deciding)}
    # What counts for all below is found by all links on the way to a spec; a setting may decide about any file.
    quick = None if reach or settings else _QuickLook(changed, cache)

    def is_affected(path: str) -> bool:
        found = None if quick is None else quick.is_affected(path)
        return _is_affected(path, changed, reach, settings, cache) if found is None else found

    return tuple(filter(is_affected, specs))


class _QuickLook:
    """Decides as `_is_affected` does about plain specs, where no file changed that counts for all below it."""

    def __init__(self, changed: ChangedFiles, cache: InputCache) -> None:
        # Imported late: `build` has one spec.
        from smspec.pipeline.plain_specs import PlainSpecs

        self._changed = changed
        self._cache = cache
        self._specs = PlainSpecs(cache)
        self._by_settings: dict[str, bool] = {}
        self._by_settings_in: dict[str, bool] = {}

    def is_affected(self, path: str) -> bool | None:
        """Return whether changed files affect a spec; None if that is not known."""
        changed, directory = self._changed, _directory(path)
        if changed.touches(path):
            return True
        if directory not in self._by_settings:
            self._by_settings[directory] = self._is_judged_otherwise(directory)
        if self._by_settings[directory]:
            return True
        # A spec that cannot be read counts for its whole directory: only parsing all of it shows that it can.
        spec = None if changed.touches(directory) else self._specs.of(path)
        if spec is None:
            return None
        if any(changed.touches(document.texts[0].name) for document in spec.bases):
            return True
        if any(changed.touches_from(start, written) for start, written in spec.named):
            return True
        return spec.source is not None and changed.touches_from(directory, spec.source)

    def _is_judged_otherwise(self, directory: str) -> bool:
        """Return whether a file changed that counts for all specs in a directory."""
        organization = self._cache.organization(directory)
        return (
            self._has_changed_settings(os.path.abspath(directory))
            or any(map(self._changed.touches, _rule_files(directory, self._cache)))
            or any(
                fnmatchcase(file, pattern) for pattern in organization.rule_patterns() for file in self._changed.paths
            )
        )

    def _has_changed_settings(self, above: str) -> bool:
        if above not in self._by_settings_in:
            here = _settings_in(above)
            is_last = above == os.path.dirname(above) or os.path.lexists(os.path.join(above, ".git"))
            self._by_settings_in[above] = any(map(self._changed.touches, here)) or (
                not is_last and self._has_changed_settings(os.path.dirname(above))
            )
        return self._by_settings_in[above]


def check_checkout(absent: set[str], specs: Iterable[str], needed: set[str], cache: InputCache) -> None:
    """Raise `GitFailed` if a sparse checkout left out a file that a job is made from, or that is ``needed`` itself."""
    if not absent:
        return
    paths = tuple(specs)
    places = {way for path in paths for place in places_of(path, cache) for way in places_on_the_way(place)}
    above = {directory for path in paths for way in places_on_the_way(path) for directory in _directories_above(way)}
    lacking = sorted(
        path
        for path in absent
        if path in needed
        or not places.isdisjoint((path, *_directories_above(path)))
        or (_is_for_all_below(path) and _reach(path) in above)
    )
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise GitFailed(
            f"this sparse checkout lacks `{os.path.relpath(lacking[0])}`{more}, a job spec or a part of one: "
            "run `git sparse-checkout add DIRECTORY`, or pass only specs whose files are here"
        )


def unread_submodules(changed: ChangedFiles, tops: Iterable[str], specs: Iterable[str], cache: InputCache) -> list[str]:
    """Return the changed submodules that are not checked out: those that are searched, or that jobs are made from.

    ``tops``: the real directories that are searched.
    """
    if not changed.unread:
        return []
    made_from = {place for path in specs for place in places_of(path, cache)}
    tops = [*tops, *map(os.path.realpath, made_from)]
    places = {way for place in made_from for way in places_on_the_way(place)}
    found = {path for path in changed.unread if any(is_below(path, top) for top in tops)}
    found.update(path for path in changed.unread if any(is_below(place, path) for place in places))
    return sorted(map(os.path.relpath, found))


def unread_notice(submodules: Sequence[str]) -> str:
    """Return the line about them; empty for none."""
    if not submodules:
        return ""
    more = f" and {len(submodules) - 1} more" if len(submodules) > 1 else ""
    return (
        f"the submodule `{submodules[0]}`{more} changed, and is not checked out, so nothing in it is compared: "
        "run `git submodule update --init`, or pass only paths outside of it"
    )


def _is_affected(
    path: str, changed: ChangedFiles, reach: set[str], settings: Mapping[str, str], cache: InputCache
) -> bool:
    places = dict.fromkeys(places_of(path, cache, settings))
    if any(map(changed.touches, places)):
        return True
    # A file with a rule that is gone is no longer among the places.
    if any(
        fnmatchcase(file, pattern)
        for pattern in cache.organization(_directory(path)).rule_patterns()
        for file in changed.paths
    ):
        return True
    ways = {way for place in (path, *places) for way in places_on_the_way(place)}
    return not reach.isdisjoint({directory for way in ways for directory in _directories_above(way)})


def places_of(path: str, cache: InputCache, settings: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    """Yield the files and directories that the jobs of a spec are made from, also those that are missing now."""
    yield path
    directory = _directory(path)
    yield from _settings_above(directory)
    yield from _rule_files(directory, cache)
    try:
        files = read_spec_files(path, cache)
        yield from (text.name for text in files.texts)
        yield from _extended(files)
        layers = assembly(files, cache)
        known = {name: settings[name] for name in declared_variables(files.documents) if name in settings}
        for overlay in (None, *layers.overlays):
            document = layers.merged(overlay, known).document
            for key in (SOURCE, REQUIREMENTS):
                name = document.string(key)
                if name is not None and "\0" not in name:
                    yield os.path.join(directory, name)
    except (InvalidInput, OptionError, OSError):
        yield directory


def _settings_above(directory: str) -> Iterator[str]:
    """Yield the files that count for the specs in a directory: any may be a link, or be below one."""
    path = os.path.join(os.path.abspath(directory), "")
    for above in _directories_above(path):
        yield from _settings_in(above)
        if os.path.lexists(os.path.join(above, ".git")):
            return


def _settings_in(directory: str) -> Iterator[str]:
    yield from filter(os.path.lexists, (os.path.join(directory, name) for name in _FOR_ALL_BELOW))
    locked = os.path.join(directory, LOCK_DIRECTORY)
    yield from (os.path.join(locked, name) for name in (os.listdir(locked) if os.path.isdir(locked) else ()))


def _rule_files(directory: str, cache: InputCache) -> Iterator[str]:
    """Yield the files with the rules of an organization for specs in a directory, also those with errors."""
    try:
        yield from (rule.file for rule in cache.organization(directory).rules())
    except InvalidInput as rejected:
        yield from (text.name for text in rejected.texts)


def _extended(files: SpecFiles) -> Iterator[str]:
    for document in files.documents:
        directory = os.path.dirname(document.texts[0].name)
        try:
            yield from (os.path.join(directory, written) for written, _ in extends_of(document) if "\0" not in written)
        except InvalidInput:
            continue  # reported when the job is checked


def changed_settings(specs: Sequence[str], changed: ChangedFiles, cache: InputCache) -> tuple[str, ...]:
    """Return the changed files that decide how some specs are judged: policies, prices, rules, and lockfiles.

    A file counts as changed if a link on the way to it did.
    """
    directories = {_directory(path) for path in specs}
    ways = {way for directory in directories for way in places_on_the_way(directory)}
    above = {*ways, *(place for way in ways for place in _directories_above(way))}
    # A lockfile counts for the specs below it by their own paths only.
    own = {os.path.realpath(place) for path in specs for place in _directories_above(os.path.abspath(path))}
    patterns = {pattern for directory in directories for pattern in cache.organization(directory).rule_patterns()}
    here = {path for directory in directories for path in _settings_above(directory) if is_settings(path)}
    here.update(
        os.path.abspath(file) for directory in directories for file in cache.organization(directory).rule_files()
    )
    found = {path for path in here if changed.touches(path)}
    found.update(
        path
        for path in changed.paths
        if any(fnmatchcase(path, pattern) for pattern in patterns)
        or (is_settings(path) and os.path.realpath(_reach(path)) in (own if is_of_lock(path) else above))
    )
    return tuple(map(os.path.relpath, sorted(found)))


def _is_for_all_below(path: str) -> bool:
    directory, name = os.path.split(path)
    return name in _FOR_ALL_BELOW or os.path.basename(directory) == LOCK_DIRECTORY


def _reach(path: str) -> str:
    directory = os.path.dirname(path)
    return os.path.dirname(directory) if os.path.basename(directory) == LOCK_DIRECTORY else directory


def _directories_above(path: str) -> Iterator[str]:
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above


def _directory(path: str) -> str:
    return os.path.dirname(path) or os.curdir
