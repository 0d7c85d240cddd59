"""The result for the jobs that changes affect, without checking all others.

It is what `narrowed_result` makes of the result for all: the findings about these jobs, and their conflicts with
others. So besides these jobs only those are checked whose texts show that they may conflict. Where that is not surely
enough, there is no such result, and all are checked.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from smspec.diagnostics import InvalidInput
from smspec.pipeline.affected_specs import affected_by
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.parallel_map import parallel_map
from smspec.pipeline.related_specs import ENOUGH, MoreSpecs, Related, RelatedSpecs, UnknownConflicts
from smspec.pipeline.spec_discovery import (
    Candidates,
    DiscoveredSpecs,
    NoJobs,
    find_candidates,
    job_specs,
    plain_outline,
)
from smspec.pipeline.untouched_specs import UntouchedSpecs, untouched_specs
from smspec.pipeline.validation_result import (
    CheckedSpec,
    ValidationResult,
    check_spec,
    compared,
    narrowed_result,
    whole_result,
)
from smspec.source import Span
from smspec.source.frozen import replace
from smspec.spec.repository_facts import JobFacts, RepositoryFacts, Stated
from smspec.spec.shape import NULL_THAT_REMOVES_NOTHING
from smspec.workspace.working_tree import ChangedFiles

_FEW = 8
"""One spec of so many may be checked because of others: beyond, checking all of them costs no more."""


def discovered_specs(paths: Iterable[str], cache: InputCache) -> DiscoveredSpecs | None:
    """Return the job specs for some paths, as `find_job_specs` does; None if a file is named that is no spec.

    Raise as `find_job_specs` does.
    """
    candidates = find_candidates(paths, cache)
    if any(not cache.is_meant_as_spec(path) for at, path in candidates.found.items() if at in candidates.named):
        return None
    return job_specs(candidates, [plain_outline(path, cache) for path in candidates.found.values()], cache)


def few_specs(
    paths: list[str], changed: ChangedFiles | None, cache: InputCache
) -> tuple[UntouchedSpecs, DiscoveredSpecs] | None:
    """Return the specs of a directory that changed files surely leave as they are, and the others.

    None if all have to be looked at, also to say that no job is affected, or that nothing extends a changed base spec.
    """
    untouched = None if changed is None else untouched_specs(paths, changed, cache)
    if changed is None or untouched is None:
        return None
    try:
        found = _others(untouched, cache)
    except NoJobs:
        return None
    if not affected_by(changed, found.jobs, {}, cache):
        return None
    is_used = (not changed.touches(base) or untouched.extending(base) for base in found.unused_bases)
    return (untouched, replace(found, unused_bases=())) if all(is_used) else None


def _others(untouched: UntouchedSpecs, cache: InputCache) -> DiscoveredSpecs:
    paths = untouched.others
    candidates = Candidates(
        asked=(untouched.directory,),
        found={cache.identity(path): path for path in paths},
        named=frozenset(),
        outside=(),
    )
    return job_specs(candidates, [plain_outline(path, cache) for path in paths], cache)


def changed_result(
    found: DiscoveredSpecs,
    affected: Sequence[str],
    is_changed: Callable[[str], bool],
    cache: InputCache,
    untouched: UntouchedSpecs | None = None,
) -> ValidationResult | None:
    """Return the result for the affected ones of some specs; None if it takes a check of all to know it.

    ``is_changed``: as for `narrowed_result`. ``untouched``: specs besides these that may conflict with them. Raise as
    `check_spec` does.
    """
    try:
        for directory in {os.path.dirname(path) for path in found.jobs}:
            cache.organization(directory).defaults()
    except InvalidInput:
        return None  # who needs the defaults of a spec stops there
    known_before: dict[str, CheckedSpec] = {}
    while True:
        checks = _Checks(found, affected, is_changed, cache, untouched, known_before)
        try:
            checks.complete()
            break
        except UnknownConflicts:
            return None
        except MoreSpecs as more:
            assert untouched is not None
            untouched.move(more.paths)
            found = replace(_others(untouched, cache), unused_bases=())
    known = checks.checked
    # What is compared does not depend on how many specs are left.
    here = replace(found, jobs=tuple(known), searched=found.is_repository)
    return narrowed_result(whole_result(here, [*known.values()], cache), affected, is_changed)


class _Checks:
    """The specs that have been checked: the affected ones, and those that they may conflict with."""

    def __init__(
        self,
        found: DiscoveredSpecs,
        affected: Sequence[str],
        is_changed: Callable[[str], bool],
        cache: InputCache,
        untouched: UntouchedSpecs | None,
        known: dict[str, CheckedSpec],
    ) -> None:
        self._jobs = found.jobs
        self._affected = affected
        self._is_changed = is_changed
        self._cache = cache
        self._untouched = untouched
        self._related = RelatedSpecs(found.jobs, cache, untouched)
        self._most = len(affected) + (len(found.jobs) if untouched is None else len(untouched.order)) // _FEW
        self._known = known

    @property
    def checked(self) -> dict[str, CheckedSpec]:
        """The results by path, in the order of the specs."""
        return {path: self._known[path] for path in self._jobs if path in self._known}

    def complete(self) -> None:
        """Check all that is needed. Raise `UnknownConflicts` if all specs are."""
        self._check(self._affected)
        own = {diagnostic for path in self._affected for diagnostic in self._known[path].diagnostics}
        names = {self._cache.name(path) for path in self._affected}
        shared = [one for one in own if one.span.file not in names]
        # In the result for all, a finding in a file that several specs have stands where the first of them does.
        if shared and (len(own) > 1 or any(one.code == NULL_THAT_REMOVES_NOTHING.code for one in shared)):
            raise UnknownConflicts
        if not self._affected or (len(self._jobs) < 2 and self._untouched is None):
            return
        self._add(self._related.to_bases(self._affected))
        followed: set[tuple[str, str | None]] = set()
        ahead = [facts for path in self._affected for facts in self._known[path].facts]
        while ahead:
            self._add(self._related.to_jobs(ahead))
            followed.update((job.file, job.overlay) for job in ahead)
            ahead = [job for job in self._in_conflicts() if (job.file, job.overlay) not in followed]

    def _add(self, related: Related) -> None:
        self._check(related.paths)
        for output, paths in related.by_output.items():
            self._check(paths[:ENOUGH])
            here = {path for path in self._known if _has_output(self._known[path], output)}
            if len(here) < ENOUGH:
                self._check(paths)

    def _check(self, paths: Sequence[str]) -> None:
        ahead = [path for path in dict.fromkeys(paths) if path not in self._known]
        if self._untouched is not None and any(path in self._untouched.texts for path in ahead):
            raise MoreSpecs(ahead)
        if len(self._known) + len(ahead) > max(self._most, ENOUGH):
            raise UnknownConflicts
        made = parallel_map(len(ahead), lambda number: check_spec(ahead[number], None, {}, self._cache))
        self._known.update(zip(ahead, made, strict=True))

    def _in_conflicts(self) -> list[JobFacts]:
        """Return the facts of jobs with conflicts in the files of the affected ones, or in files that changed."""
        files = {file for path in self._affected for file in self._known[path].files}
        jobs = tuple(facts for spec in self.checked.values() for facts in spec.facts)
        spans: set[Span] = set()
        for diagnostic in compared(RepositoryFacts(jobs=jobs), is_whole=False):
            here = {diagnostic.span, *(note.span for note in diagnostic.notes if note.span)}
            if any(span.file in files or self._is_changed(span.file) for span in here):
                spans |= here
        return [job for job in jobs if spans and any(stated.span in spans for stated in _stated(job))]


def _has_output(checked: CheckedSpec, output: str) -> bool:
    return any(facts.output is not None and facts.output.text == output for facts in checked.facts)


def _stated(job: JobFacts) -> list[Stated]:
    others = (job.output, job.checkpoints, job.tensorboard, *(data for _, data in job.channels))
    return [job.name, job.job_name, *(stated for stated in others if stated is not None)]
