"""Check repositories in a thread of its own while the author types: after a pause, and the newest state only.

Only the jobs that a change affects are checked again. Each round sees one state of the disk and of the unsaved texts,
as one run of `smspec validate` does, so its findings are those that `smspec validate` would print.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping

from lsprotocol import types

from smspec.diagnostics import Diagnostic
from smspec.editor.open_documents import Publication
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.spec_discovery import (
    Candidates,
    DiscoveredSpecs,
    NoJobs,
    Outline,
    find_candidates,
    job_specs,
    outline,
)
from smspec.pipeline.validation_result import CheckedSpec, ValidationResult, check_spec, whole_result
from smspec.source.frozen import dataclass, replace
from smspec.source.real_file import is_below
from smspec.spec.layers.variables import OptionError
from smspec.workspace.spec_reading import is_meant_as_spec

MOST_AT_ONCE = 50
"""Jobs that are checked before the findings so far are shown."""

_SPECS = (".yaml", ".yml")

PAUSE = 0.15
"""Seconds without a change before a check begins: less than most people notice, more than between two keys."""

Publish = Callable[[Mapping[str, list[types.Diagnostic]]], None]
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CheckedJob:
    """The result for a job, and the real paths of the files and directories that it depends on."""

    spec: CheckedSpec
    depends: frozenset[str]


class CheckedRepository:
    """The job specs for ``path``, a directory or a file, as `smspec validate PATH` finds them."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._is_directory = os.path.isdir(path)
        self._candidates: Candidates | None = None
        self._outlines: dict[str, Outline | None] = {}
        self._checked: dict[str, CheckedJob] = {}
        self._due: set[str] = set()

    def results(
        self, contents: Mapping[str, bytes], changed: frozenset[str] | None, is_stale: Callable[[], bool]
    ) -> Iterator[ValidationResult]:
        """Check the jobs that ``changed`` affects; yield the result for all jobs after some of them, and at the end.

        ``contents``: real path → unsaved text. ``changed``: real paths; None if any file may have changed. Jobs in
        unsaved texts come first. Once ``is_stale``, stop; what is left is checked by the next call. Raise OSError if
        the disk fails.
        """
        cache = InputCache(contents=contents)
        found = self._discover(contents, changed, cache)
        by_identity = {cache.identity(path): path for path in found.jobs}
        self._checked = {identity: one for identity, one in self._checked.items() if identity in by_identity}
        self._due |= by_identity.keys() - self._checked.keys()
        self._due |= {at for at, one in self._checked.items() if changed is None or _depends(one, changed)}
        ahead = [at for at in by_identity if at in self._due]
        ahead.sort(key=lambda at: (at not in contents, not self._depends_on_unsaved(at, contents)))
        opened = sum(at in contents or self._depends_on_unsaved(at, contents) for at in ahead[:MOST_AT_ONCE])
        for number, identity in enumerate(ahead):
            if is_stale():
                return
            if number and (number == opened or number % MOST_AT_ONCE == 0):
                yield self._result(found, by_identity, cache)
            self._check(identity, by_identity[identity], cache)
        self._due.clear()
        yield self._result(found, by_identity, cache)

    def _depends_on_unsaved(self, identity: str, contents: Mapping[str, bytes]) -> bool:
        known = self._checked.get(identity)
        return known is not None and not known.depends.isdisjoint(contents)

    def _check(self, identity: str, path: str, cache: InputCache) -> None:
        cache.touched.clear()
        try:
            checked = check_spec(path, None, {}, cache)
        except OptionError:  # the file is gone
            self._checked.pop(identity, None)
            return
        self._checked[identity] = CheckedJob(checked, frozenset({*cache.touched, identity}))
        self._due.discard(identity)

    def _result(self, found: DiscoveredSpecs, jobs: Mapping[str, str], cache: InputCache) -> ValidationResult:
        known = {at: path for at, path in jobs.items() if at in self._checked}
        so_far = replace(found, jobs=tuple(known.values()))
        return whole_result(so_far, [self._checked[at].spec for at in known], cache)

    def _discover(
        self, contents: Mapping[str, bytes], changed: frozenset[str] | None, cache: InputCache
    ) -> DiscoveredSpecs:
        """Return the jobs, given which files changed since the last time."""
        if changed is None or self._candidates is None:
            self._candidates, self._outlines = self._found(cache), {}
        elif self._is_directory:
            cache.searched(self.path)
        candidates = self._with_unsaved(self._candidates, contents)
        for at, path in candidates.found.items():
            if at not in self._outlines or (changed is not None and at in changed):
                self._outlines[at] = outline(path, cache)
        try:
            return job_specs(candidates, [self._outlines[at] for at in candidates.found], cache)
        except NoJobs:
            return DiscoveredSpecs(jobs=(), unused_bases=(), searched=self._is_directory)

    def _found(self, cache: InputCache) -> Candidates:
        try:
            return find_candidates([self.path], cache)
        except OptionError:  # the directory is gone, or the file is not on disk
            return Candidates(asked=(self.path,), found={}, named=frozenset(), outside=())

    def _with_unsaved(self, candidates: Candidates, contents: Mapping[str, bytes]) -> Candidates:
        """Return the candidates with specs that exist only as unsaved texts, and without those that are none now."""
        gone = {at for at, content in contents.items() if not is_meant_as_spec(content)}
        found = {at: path for at, path in candidates.found.items() if at not in gone}
        top = os.path.realpath(self.path)
        for identity in contents:
            is_here = is_below(identity, top) if self._is_directory else identity == top
            if identity not in found and is_here and identity.endswith(_SPECS) and identity not in gone:
                found[identity] = os.path.relpath(identity)
        return replace(candidates, found=found)


def _depends(checked: CheckedJob, changed: frozenset[str]) -> bool:
    """Return whether a job depends on any of some files, or on a directory that contains one."""
    return not checked.depends.isdisjoint(changed) or any(
        is_below(file, place) for file in changed for place in checked.depends if not place.endswith(_SPECS)
    )


class Checking:
    """Checks what has changed. ``contents`` returns the unsaved texts by real path; ``publish`` is called here."""

    def __init__(
        self, contents: Callable[[], dict[str, bytes]], uri_of: Callable[[str], str], publish: Publish
    ) -> None:
        self._contents = contents
        self._uri_of = uri_of
        self._publish = publish
        self._folders: tuple[str, ...] = ()
        self._repositories: dict[str, CheckedRepository] = {}
        self._publications: dict[str, Publication] = {}
        self._pending: dict[str, frozenset[str] | None] = {}
        self._condition = threading.Condition()
        self._generation = 0
        self._quiet_until = 0.0
        self._is_ended = False
        self._thread = threading.Thread(target=self._work, name="smspec-checking", daemon=True)

    def start(self, folders: tuple[str, ...]) -> None:
        """Begin; ``folders`` are the real paths of the directories that the editor has open."""
        self._folders = tuple(sorted(folders, key=len, reverse=True))
        self._thread.start()

    def end(self) -> None:
        with self._condition:
            self._is_ended = True
            self._generation += 1
            self._condition.notify()

    def changed(self, path: str, *, at_once: bool = False) -> None:
        """Check again what depends on the file at a real path, ``at_once`` or after a pause."""
        self._add(self._top(path), frozenset({path}), at_once=at_once)

    def everything_changed(self) -> None:
        """Check all again: files have come or gone."""
        for top in list(self._repositories):
            self._add(top, None, at_once=False)

    def found_in(self, path: str, uri: str) -> tuple[Diagnostic, ...]:
        """Return the findings that are shown in the file at a real path."""
        publication = self._publications.get(self._top(path))
        return () if publication is None else publication.found_in(uri)

    def _top(self, path: str) -> str:
        return next((folder for folder in self._folders if is_below(path, folder)), path)

    def _add(self, top: str, changed: frozenset[str] | None, *, at_once: bool) -> None:
        with self._condition:
            known = self._pending.get(top, frozenset())
            self._pending[top] = None if changed is None or known is None else changed | known
            self._generation += 1
            self._quiet_until = 0.0 if at_once else time.monotonic() + PAUSE
            self._condition.notify()

    def _work(self) -> None:
        while (task := self._next()) is not None:
            top, changed, generation = task
            try:
                self._check(top, changed, generation)
            except Exception:
                # A bug in one check must not end all later ones; the editor shows the log.
                _LOG.exception("cannot check %s", top)

    def _next(self) -> tuple[str, frozenset[str] | None, int] | None:
        with self._condition:
            while not self._is_ended:
                rest = self._quiet_until - time.monotonic()
                if self._pending and rest <= 0:
                    top = next(iter(self._pending))
                    return top, self._pending.pop(top), self._generation
                self._condition.wait(rest if self._pending else None)
        return None

    def _check(self, top: str, changed: frozenset[str] | None, generation: int) -> None:
        if top not in self._repositories:
            self._repositories[top] = CheckedRepository(os.path.relpath(top))
            self._publications[top] = Publication(self._uri_of)
        publication = self._publications[top]

        def is_stale() -> bool:
            return self._generation != generation

        is_done = False
        try:
            for result in self._repositories[top].results(self._contents(), changed, is_stale):
                if is_stale():
                    return
                self._publish(publication.changes(result))
            is_done = not is_stale()
        finally:
            if not is_done:
                with self._condition:  # what was left is still to do
                    self._pending.setdefault(top, frozenset())
