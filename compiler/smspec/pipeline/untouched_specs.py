"""Find the specs below a directory that a change surely leaves as they are, by a glance at the text of each.

A glance takes a hundredth of the time of a parser, so the cost of a command follows what changed. It finds what a spec
is made of only where that is written in the usual way, and the rest of the text cannot have it; it may find too much,
never too little. Whatever is not surely untouched is one of the `others`, which are looked at as if there were no
glance, and whatever may decide about all specs, such as a link or a changed policy, means that there is none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from smspec.diagnostics import InvalidInput
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import read_spec_files
from smspec.pipeline.named_files import source_findings
from smspec.pipeline.plain_specs import COMPARED, PlainSpecs, glance, joined, names_files, top_keys
from smspec.pipeline.searched_text import TextSearch
from smspec.pipeline.spec_discovery import is_entered, is_job, is_yaml, plain_outline, take
from smspec.pipeline.tracked_sources import TrackedSources, directories_above
from smspec.source.real_file import is_below
from smspec.spec.layers.variables import OptionError
from smspec.spec.lock import DIRECTORY as LOCK_DIRECTORY
from smspec.spec.yaml.events import MAX_BYTES
from smspec.workspace.boundary_search import SETTINGS, superproject_of
from smspec.workspace.git import FOR_CHECKOUTS, LINK, SUBMODULE, GitFailed
from smspec.workspace.ignore_rules import IGNORE_FILES, MARKS_OF_ENVIRONMENTS
from smspec.workspace.path_targets import directories_of
from smspec.workspace.source_walk import MARKERS, is_output_of_ours
from smspec.workspace.spec_reading import is_meant_as_spec
from smspec.workspace.working_tree import ChangedFiles, object_name

_LARGEST = 1 << 14
_COMPARED = COMPARED | {"output", "image"}
_FOR_ALL = frozenset({*SETTINGS, *IGNORE_FILES, *FOR_CHECKOUTS, LOCK_DIRECTORY})
_DECIDING = frozenset({*_FOR_ALL, *MARKERS, *MARKS_OF_ENVIRONMENTS})
"""Names of files and directories that decide about specs or sources around them."""

_NAMED = re.compile(
    rb"(?:(?:#[^\n]*|[A-Za-z_]+: [A-Za-z0-9_./ -]*|[A-Za-z_]+: *\[[A-Za-z0-9_./, -]*\] *)?\n)*"
    rb"name: +(?!null|Null|NULL)[A-Za-z]"
)
_ATTRIBUTES = ("filter", "ident", "eol", "working-tree-encoding")


class _NotSimple(Exception):
    """Only a look at each spec decides."""


class UntouchedSpecs:
    """``order``: all specs that a search finds, by their paths. Those that are not among the `others` are untouched.

    ``compares``: a comparison finds no difference; otherwise, no change affects them.
    """

    def __init__(self, directory: str, changed: ChangedFiles, cache: InputCache, *, compares: bool) -> None:
        self.order: dict[str, int] = {}
        self.texts: dict[str, bytes] = {}
        """The untouched specs."""
        self._others: dict[str, bytes] = {}
        self._changed, self._cache = changed, cache
        self._top = changed.repository.top
        self._compares = compares
        self._plain = PlainSpecs(cache)
        self._tracked = {file.path: file.object for file in changed.repository.staged}
        self._directories = directories_above(self._tracked)
        self._stored = {entry.path: entry.object for entry in changed.entries}
        self._places = {path[len(self._top) + 1 :] for path in changed.paths}
        self._changed_directories = directories_above(self._places)
        self._in_sources = TrackedSources(self._top, self._tracked, self._directories)
        self._settings = {""}
        self._sources: dict[str, bool] = {}
        self._bases: dict[tuple[str, tuple[str, ...]], tuple[str, ...] | None] = {}
        self._known: dict[str, tuple[str, ...] | None] = {}
        self._searches: dict[TextSearch, dict[str, str | None]] = {}
        self._groups: dict[tuple[str, ...], list[str]] = {}
        self.directory = directory
        self._start = os.path.normpath(directory)
        place = os.path.relpath(os.path.realpath(directory), self._top)
        self._place = "" if place == os.curdir else f"{place}/"
        self._check(directory)
        found = [*self._walk(directory)]
        self._check_settings()
        for number, (path, content) in enumerate(found):
            self.order[path] = number
            is_untouched = len(content) <= _LARGEST and self._is_untouched(path, self._place_of(path), content)
            (self.texts if is_untouched else self._others)[path] = content
        if compares:
            self._drop_converted()
        self._close(self._others)

    @property
    def others(self) -> dict[str, bytes]:
        """The specs that may be touched, with their contents, in the order in which a search finds them."""
        return {path: self._others[path] for path in sorted(self._others, key=self.order.__getitem__)}

    def move(self, paths: Iterable[str]) -> None:
        """Make untouched specs some of the others, with those that extend them."""
        self._close(self._move(paths))

    def groups(self) -> Iterator[tuple[tuple[str, ...], list[str]]]:
        """Yield groups of base specs, each with the untouched specs that extend it."""
        for bases, paths in self._groups.items():
            if found := [path for path in paths if path in self.texts]:
                yield bases, found

    def searched(self, search: TextSearch) -> Iterator[tuple[str, str | None]]:
        """Yield the untouched specs whose texts may have what a search is for, each with what it found."""
        if search not in self._searches:
            found = ((path, search.of(content)) for path, content in self.texts.items())
            self._searches[search] = {path: shared for path, shared in found if shared != ""}
        return ((path, shared) for path, shared in self._searches[search].items() if path in self.texts)

    def extending(self, path: str) -> list[str]:
        """Return the untouched specs that extend one at a path."""
        return [one for bases, paths in self._groups.items() if path in bases for one in paths if one in self.texts]

    def places(self) -> set[str]:
        """Return the places of the untouched specs."""
        return {*map(self._place_of, self.texts)}

    def jobs(self) -> dict[str, str]:
        """Return place → path of the untouched specs that are jobs, also those that others extend."""
        found = {}
        for path, content in self.texts.items():
            if _NAMED.match(content) is None:
                take(path, self._cache, content)
                of_it = plain_outline(path, self._cache)
                if of_it is not None and not is_job(of_it, self._cache):
                    continue
            found[self._place_of(path)] = path
        return found

    def _place_of(self, path: str) -> str:
        return self._place + (path if self._start == os.curdir else path[len(os.path.join(self._start, "")) :])

    def _check(self, directory: str) -> None:
        """Raise `_NotSimple` for a repository in which more than texts of specs decides."""
        top, changed = self._top, self._changed
        real = os.path.realpath(directory)
        is_plain = real == os.path.abspath(directory) and is_below(real, top) and superproject_of(top) is None
        if not is_plain or self._cache.boundary(directory).root != top or len(self._places) > len(self._tracked) // 2:
            raise _NotSimple
        staged = changed.repository.staged
        modes = {one.mode for one in changed.entries} | {one.mode for one in staged}
        is_partial = any(one.is_sparse or not one.is_merged for one in staged)
        if is_partial or not modes.isdisjoint((LINK, SUBMODULE)) or (self._compares and changed.repository.converts()):
            raise _NotSimple
        for path in changed.paths:
            if os.path.islink(path) or os.path.isdir(path) or not _DECIDING.isdisjoint(path.lower().split("/")):
                raise _NotSimple
        steps = self._place.split("/")[:-1]
        for outer in ("/".join(steps[:number]) for number in range(len(steps))):
            self._note(outer, os.listdir(os.path.join(top, outer)))

    def _note(self, place: str, names: Iterable[str]) -> None:
        """Note the settings in a directory; raise `_NotSimple` for those that git does not track."""
        for name in names:
            if name.lower() in _FOR_ALL:
                inside = f"{place}/{name}" if place else name
                if name not in _FOR_ALL or not (inside in self._tracked or inside in self._directories):
                    raise _NotSimple
                if name in SETTINGS:
                    self._settings.add(place)

    def _walk(self, directory: str) -> Iterator[tuple[str, bytes]]:
        """Yield the specs below a directory with their contents, as `specs_below` does."""
        start = "" if self._start == os.curdir else os.path.join(self._start, "")
        ahead = [(directory, start, self._place)]
        strays = self._in_sources.strays
        while ahead:
            here, prefix, place = ahead.pop()
            below, files, names = [], [], []
            with os.scandir(here) as entries:
                for entry in entries:
                    name = entry.name
                    names.append(name)
                    if entry.is_dir(follow_symlinks=False):
                        below.append(name)
                    elif entry.is_file(follow_symlinks=False):
                        files.append(name)
                    elif entry.is_symlink() and (
                        is_yaml(name) or f"{place}{name}" in self._directories or os.path.isdir(entry.path)
                    ):
                        raise _NotSimple
                    else:
                        strays.append(f"{place}{name}")
            if place and (".git" in below or ".git" in files):
                raise _NotSimple
            self._note(place[:-1], names)
            if here != directory and not MARKERS.isdisjoint(files):
                if place[:-1] in self._directories:
                    raise _NotSimple
                if is_output_of_ours(os.path.realpath(here)):
                    strays.append(place)
                    continue
            for name in sorted(files):
                if f"{place}{name}" not in self._tracked:
                    strays.append(f"{place}{name}")
                if is_yaml(name):
                    content = _read(os.path.join(here, name))
                    if content.startswith(b"smspec: ") or b"\nsmspec: " in content or is_meant_as_spec(content):
                        yield f"{prefix}{name}", content
            below.sort(reverse=True)
            odd = (name for name in below if not is_entered(name) or name in MARKS_OF_ENVIRONMENTS)
            strays += [f"{place}{name}/" for name in odd]
            ahead += [
                (os.path.join(here, name), f"{prefix}{name}/", f"{place}{name}/") for name in below if is_entered(name)
            ]

    def _check_settings(self) -> None:
        """Raise `_NotSimple` for settings that are invalid, name files, or have a rule that changed or is untracked."""
        if any(LOCK_DIRECTORY in stray.split("/") for stray in self._in_sources.strays):
            raise _NotSimple
        for place in self._settings:
            directory = os.path.relpath(os.path.join(self._top, place))
            directory = "" if directory == os.curdir else directory
            organization = self._cache.organization(directory)
            defaults, lock = organization.defaults(), self._cache.lock(directory)
            patterns, paths = organization.rule_patterns(), self._changed.paths
            if (
                (defaults and (names_files(defaults.root) or not top_keys(defaults).isdisjoint(_COMPARED)))
                or (self._compares and lock is not None and lock[1].environments)
                or (self._compares and not all(map(self._is_tracked, organization.rule_files())))
                or any(fnmatchcase(path, pattern) for pattern in patterns for path in paths)
                or any(self._changed.touches(rule.file) for rule in (organization.rules() if patterns else ()))
            ):
                raise _NotSimple

    def _is_untouched(self, path: str, place: str, content: bytes) -> bool:
        if not self._is_as_before(place, content):
            return False
        if not self._compares and place.rpartition("/")[0] in self._changed_directories:
            return False  # a spec that cannot be read counts for its whole directory
        found = self._glance(path, content)
        if found is None or not all(map(self._is_same, found[0])):
            return False
        self._groups.setdefault(found[1], []).append(path)
        return True

    def _glance(self, path: str, content: bytes) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Return the places of the files that a spec names, and all that it extends; None if these may be others."""
        written = None if self._compares and b"secrets" in content else glance(content)
        if written is None:
            return None
        above, files = self._place_of(path).rpartition("/")[0], []
        for name in written.files:
            place = joined(above, name.rstrip("/"))
            if name.startswith("/") or place.startswith(".."):
                return None
            files.append("" if place == os.curdir else place)
        question = os.path.dirname(path), written.extends
        if question not in self._bases:
            self._bases[question] = self._resolved(*question)
        bases = self._bases[question]
        return None if bases is None else (tuple(files), bases)

    def _resolved(self, directory: str, names: Iterable[str]) -> tuple[str, ...] | None:
        """Return the paths of base specs, also of those that they extend; None if one of them may be touched."""
        found: dict[str, None] = {}
        for name in names:
            path = joined(directory, name)
            if path not in self._known:
                self._known[path] = self._base(path, directory)
            documents = self._known[path]
            if documents is None:
                return None
            found.update(dict.fromkeys(documents))
        return tuple(found)

    def _base(self, path: str, directory: str) -> tuple[str, ...] | None:
        """Return a base spec and those that it extends; None if one of them may be touched."""
        base = self._plain.base(path, self._cache.boundary(directory))
        if base is None:
            return None
        names = tuple(document.texts[0].name for document in base.documents.values())
        for name, content in ((name, self._cache.content(name)) for name in names):
            may_name_secrets = self._compares and (b"secrets" in content or b"\\" in content)
            if may_name_secrets or not self._is_as_before(os.path.relpath(name, self._top), content):
                return None
        return names

    def _is_as_before(self, place: str, content: bytes) -> bool:
        """Return whether a file is as in the revision, also for a checkout that compares."""
        if place in self._places or place not in self._tracked or place not in self._stored:
            return False
        return not self._compares or object_name(self._stored[place], content) == self._stored[place]

    def _is_tracked(self, path: str) -> bool:
        return os.path.relpath(path, self._top) in self._tracked

    def _is_same(self, place: str) -> bool:
        if place not in self._sources:
            self._sources[place] = self._has_same_files(place)
        return self._sources[place]

    def _has_same_files(self, place: str) -> bool:
        """Return whether a file, or nothing in a source, changed; to compare, also that both states send the same."""
        if place in self._changed_directories or place in self._places:
            return False
        if not self._compares:
            return place in self._directories or place in self._tracked
        if place in self._tracked:
            return self._is_as_before(place, _read(os.path.join(self._top, place)))
        if place not in self._directories:
            return False
        if f"{place}/".startswith(self._place) and not self._in_sources.has_strays(place):
            return True
        if self._in_sources.are_decided_here(place):
            return False
        scanned = self._cache.source(os.path.relpath(os.path.join(self._top, place)), ())
        sent = (joined(place, file.path) for file in scanned.listing.files)
        return not [*source_findings(scanned, place)] and all(one in self._tracked for one in sent)

    def _drop_converted(self) -> None:
        """Move specs whose source has a file that git may write in another form than it stores."""
        sources = {place for place, is_same in self._sources.items() if is_same and place not in self._tracked}
        paths = [path for path in self._tracked if not sources.isdisjoint(directories_of(path))]
        found = self._changed.repository.attributes(paths, _ATTRIBUTES) if paths else {}
        converted = {
            above
            for path in paths
            if any(value not in ("unspecified", "unset", "lf") for value in found.get(path, {}).values())
            for above in sources.intersection(directories_of(path))
        }
        for path, content in [*self.texts.items()] if converted else ():
            known = self._glance(path, content)
            if known is not None and not converted.isdisjoint(known[0]):
                self._others[path] = self.texts.pop(path)

    def _close(self, paths: Iterable[str]) -> None:
        """Move what extends some jobs; to compare, also what these extend: it may have been a job before."""
        ahead = sorted(paths, key=self.order.__getitem__)
        for path in ahead:
            self._take(path)
        while ahead:
            path = ahead.pop()
            of_it = plain_outline(path, self._cache)
            if of_it is None or is_job(of_it, self._cache):
                ahead += self._move(self.extending(path))
            if self._compares:
                ahead += self._move(self._extended(path))

    def _move(self, paths: Iterable[str]) -> list[str]:
        moved = [path for path in dict.fromkeys(paths) if path in self.texts]
        for path in moved:
            self._others[path] = self.texts.pop(path)
            self._take(path)
        return moved

    def _take(self, path: str) -> None:
        content = self._others[path]
        take(path, self._cache, content if len(content) <= MAX_BYTES else None)

    def _extended(self, path: str) -> list[str]:
        try:
            return [document.texts[0].name for document in read_spec_files(path, self._cache).documents]
        except (InvalidInput, OptionError):
            return []


def untouched_specs(
    paths: Iterable[str], changed: ChangedFiles, cache: InputCache, *, compares: bool = False
) -> UntouchedSpecs | None:
    """Return what a change leaves as it is below a directory, the only path; None if a glance does not show that.

    ``compares``: a comparison with the revision finds no difference either.
    """
    try:
        (directory,) = paths
        return UntouchedSpecs(directory, changed, cache, compares=compares) if os.path.isdir(directory) else None
    except (_NotSimple, ValueError, InvalidInput, OptionError, OSError, GitFailed):
        return None


def _read(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        content = os.read(file, _LARGEST + 1)
        while len(content) > _LARGEST and len(content) <= MAX_BYTES and (more := os.read(file, MAX_BYTES)):
            content += more
        return content[: MAX_BYTES + 1]
    finally:
        os.close(file)
