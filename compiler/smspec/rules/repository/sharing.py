"""Which specs have the same value, and in how many places it is written."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from smspec.source import Span
from smspec.source.frozen import dataclass
from smspec.spec.repository_facts import JobFacts, Stated


@dataclass(frozen=True, slots=True)
class Party:
    """Jobs in different files that get a value from one place: their own file, or one base spec."""

    stated: Stated
    jobs: tuple[JobFacts, ...]


def sharings(keyed_jobs: Iterable[tuple[Hashable, JobFacts, Stated]]) -> Iterator[tuple[Party, ...]]:
    """Yield, for every key that several files have, the parties that have it; a file counts once per key."""
    groups: dict[Hashable, dict[str, tuple[JobFacts, Stated]]] = {}
    for key, job, stated in keyed_jobs:
        groups.setdefault(key, {}).setdefault(job.file, (job, stated))
    for files in groups.values():
        if len(files) > 1:
            places: dict[Span, tuple[Stated, list[JobFacts]]] = {}
            for job, stated in files.values():
                places.setdefault(stated.span, (stated, []))[1].append(job)
            yield tuple(Party(stated, tuple(jobs)) for stated, jobs in places.values())
