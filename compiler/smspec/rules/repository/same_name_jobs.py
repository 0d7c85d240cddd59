"""Jobs with one name, grouped by where names are unique: in an account and a region."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from smspec.spec.repository_facts import JobFacts

Place = tuple["str | None", "str | None"]


def may_meet(one: Place, other: Place) -> bool:
    """Return whether two accounts and regions can be the same; an unknown one can be any."""
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def same_name_jobs(
    keyed_jobs: Iterable[tuple[Hashable, JobFacts]], *, same_place: bool
) -> Iterator[tuple[JobFacts, JobFacts]]:
    """Yield (earlier job, job) of two files with one key, once per job.

    ``same_place`` True: only jobs that may be in one account and region; False: only jobs that cannot be.
    """
    first: dict[Hashable, dict[Place, JobFacts]] = {}
    reported: set[tuple[str, Hashable]] = set()
    for key, job in keyed_jobs:
        places = first.setdefault(key, {})
        for place, earlier in places.items():
            if (
                earlier.file != job.file
                and may_meet(place, job.place) == same_place
                and (job.file, key) not in reported
            ):
                reported.add((job.file, key))
                yield earlier, job
        places.setdefault(job.place, job)
