"""The findings in the specs of a directory while files change: only the jobs that a change affects are checked again.

Each round sees one state of the disk and of the unsaved texts, as one run of `smspec validate` does, so its findings
are those that `smspec validate` would print.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.spec_check import CheckedSpec, check_spec
from smspec.pipeline.spec_discovery import (
    Candidates,
    DiscoveredSpecs,
    NoJobs,
    Outline,
    find_candidates,
    job_specs,
    outline,
)
from smspec.pipeline.validation_result import ValidationResult, whole_result
from smspec.source.frozen import dataclass, replace
from smspec.source.real_file import is_below
from smspec.spec.layers.variables import OptionError
from smspec.workspace.spec_marker import is_meant_as_spec

MOST_AT_ONCE = 50
"""Jobs that are checked before the findings so far are shown."""

_SPECS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Checked:
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
        self._checked: dict[str, Checked] = {}
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
        self._checked[identity] = Checked(checked, frozenset({*cache.touched, identity}))
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


def _depends(checked: Checked, changed: frozenset[str]) -> bool:
    """Return whether a job depends on any of some files, or on a directory that contains one."""
    return not checked.depends.isdisjoint(changed) or any(
        is_below(file, place) for file in changed for place in checked.depends if not place.endswith(_SPECS)
    )
