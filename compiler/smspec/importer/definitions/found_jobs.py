"""The training jobs of a definition, and the choice of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from smspec.importer.imported import Imported, RequestNotFound
from smspec.source.frozen import dataclass

_MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class FoundJob:
    """A training job of a definition.

    ``name``: what the definition calls its state, step, or resource. ``place``: where that is, if the name is not
    unique. ``imported`` may raise `RequestNotFound`.
    """

    name: str
    place: str
    imported: Callable[[], Imported]


def selected(jobs: Sequence[FoundJob], choice: str | None, kind: str, *, all_jobs: bool) -> tuple[Imported, ...]:
    """Return the chosen job, as `chosen`; without a choice, and if ``all_jobs``, all of them."""
    if all_jobs and choice is None and len(jobs) > 1:
        return tuple(job.imported() for job in jobs)
    return (chosen(jobs, choice, kind),)


def chosen(jobs: Sequence[FoundJob], choice: str | None, kind: str) -> Imported:
    """Return the only job, or the one that was chosen by its number, name, or place.

    ``kind``: what contains them, `the state machine`. Raise `RequestNotFound` if there is no such job, or several.
    """
    if not jobs:
        raise RequestNotFound(f"{kind} creates no training job")
    fitting = [
        job for index, job in enumerate(jobs, start=1) if choice is None or choice in (job.name, job.place, str(index))
    ]
    if len(fitting) == 1:
        return fitting[0].imported()
    listed = [f"{index} `{_described(job)}`" for index, job in enumerate(jobs[:_MOST_LISTED], start=1)]
    if len(jobs) > _MOST_LISTED:
        listed.append(f"and {len(jobs) - _MOST_LISTED} more")
    why = f"`{choice}` is {len(fitting) or 'none'} of them" if choice else "choose one with --job, by number or name"
    count = f"{len(jobs)} training jobs" if len(jobs) > 1 else "1 training job"
    raise RequestNotFound(f"{kind} creates {count}; {why}: {'; '.join(listed)}")


def _described(job: FoundJob) -> str:
    return job.place or job.name
