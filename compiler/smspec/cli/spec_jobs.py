"""The jobs in SageMaker that were made of a spec as it is now: of every run id, alternative, and repetition.

SageMaker decides what exists, not the spec: a name is computed only to recognize a job in its list. The name of a job
with a run id contains a digest of that id, which only its tag shows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from smspec.cli.console import CommandRefused
from smspec.cli.job_follower import moment
from smspec.cli.submission import RUN_ID_TAG, Submission, is_run_id, submissions
from smspec.diagnostics import count
from smspec.diagnostics.quoting import visible
from smspec.pipeline.compilation import Compiled
from smspec.source.frozen import dataclass, replace
from smspec.submission.client import JobRefused
from smspec.submission.job_creation import AlternativeJobs, Candidate
from smspec.submission.job_service import JobService, ListedJob
from smspec.submission.ownership import DifferentJob, require_own
from smspec.submission.training_job import DELETING, TrainingJob

_MOST_TAGS_READ = 500
"""Calls for the tags of jobs that are named like the spec and newer than its newest job."""

_MOST_OLDER = 20
"""Of such calls for older ones, which are only counted."""

_MOST_OLDER_LISTED = 2_000
"""Jobs in the list that are older than the newest one of the spec, with any names that begin like its own."""

_REPETITION = re.compile(r"-[0-9]{1,4}")
_IN_PROGRESS = "InProgress"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecJob:
    """A job of a spec. ``run_id`` None: it was submitted without one."""

    job: TrainingJob
    run_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecJobs:
    """The ``newest`` job of a spec, None if it has none, and how many ``others`` there are.

    ``alive``: the names of those others that are in progress. ``is_all`` False: there may be more others. ``foreign``:
    names of jobs that look like newer ones, but are not of the spec.
    """

    newest: SpecJob | None
    others: int = 0
    alive: tuple[str, ...] = ()
    is_all: bool = True
    foreign: tuple[str, ...] = ()

    def line(self, spec: str) -> str:
        """Return which job a command takes, for a person."""
        assert self.newest is not None
        job = self.newest.job
        run_id = "" if self.newest.run_id is None else f", run id {visible(self.newest.run_id)}"
        least = "" if self.is_all else "at least "
        more = f"; {visible(spec)} has {least}{count(self.others, 'older job')}" if self.others else ""
        names = ", ".join(self.alive[:3]) + (" …" if len(self.alive) > 3 else "")
        alive = f", of which {names} {'is' if len(self.alive) == 1 else 'are'} in progress" if self.alive else ""
        foreign = f"; not of the spec, and left alone: {', '.join(map(visible, self.foreign))}" if self.foreign else ""
        return f"the job {job.name}{run_id}, created {moment(job.created)}{more}{alive}{foreign}"


def jobs_of_spec(service: JobService, job: Compiled, run_id: str | None) -> SpecJobs:
    """Ask SageMaker for the jobs of a spec; with a ``run_id``, for those of that id.

    Raise `JobRefused` if a job that is not of the spec has its name, `AwsUnavailable` if AWS cannot be called.
    """
    named, foreign = _named(service, submissions(job, run_id), run_id)
    if run_id is not None or job.facts.names_itself:
        found = _counted(named)
    else:
        found = _with_listed(service, job, named, foreign)
    if found.newest is None and foreign:
        raise next(iter(foreign.values()))
    return replace(found, foreign=tuple(foreign))


def jobs_named(service: JobService, sent: Sequence[Submission]) -> list[SpecJob]:
    """Return the jobs with the names of submissions, the newest first. Raise `JobRefused` if all are different ones."""
    found, foreign = _named(service, sent, None)
    if foreign and not found:
        raise next(iter(foreign.values()))
    return found


def _named(
    service: JobService, sent: Sequence[Submission], run_id: str | None
) -> tuple[list[SpecJob], dict[str, DifferentJob]]:
    """Return the jobs with the names of submissions, the newest first, and those that are not of them, with why."""
    candidates = [
        Candidate(request=each.request, digest=each.digest, name_is_derived=each.name_is_derived) for each in sent
    ]
    jobs = AlternativeJobs(service, candidates)
    found = [SpecJob(job=each, run_id=run_id) for chain in jobs.chains() for each in chain]
    return sorted(found, key=lambda each: each.job.created, reverse=True), jobs.foreign


def _counted(found: Sequence[SpecJob], *, is_all: bool = True) -> SpecJobs:
    alive = tuple(each.job.name for each in found[1:] if each.job.is_alive)
    return SpecJobs(newest=found[0] if found else None, others=max(0, len(found) - 1), alive=alive, is_all=is_all)


def _with_listed(
    service: JobService, job: Compiled, named: Sequence[SpecJob], foreign: dict[str, DifferentJob]
) -> SpecJobs:
    """Return the newest of the jobs with known names and those in SageMaker's list whose run id leads to their name."""
    recognizer = _Recognizer(service, job)
    names = {each.job.name for each in named}
    listed: list[tuple[ListedJob, str, Submission]] = []
    newest = named[0].job.created if named else None
    is_all = True
    older = 0
    for each in service.named(f"{job.plan.name}-"):
        is_older = newest is not None and each.created <= newest
        older += is_older
        if older > _MOST_OLDER_LISTED:
            is_all = False
            break
        if each.name in names or each.name in foreign or each.status == DELETING or not recognizer.is_named(each):
            continue
        if recognizer.calls >= _MOST_TAGS_READ and not is_older:
            raise CommandRefused(
                f"the {recognizer.calls} newest jobs named `{job.plan.name}-…` are not of the spec as it is now; pass"
                " --run-id, or the name of a job"
            )
        if is_older and recognizer.calls_for_older >= _MOST_OLDER:
            is_all = False
            break
        found = recognizer.submission_of(each, is_older=is_older)
        if found is not None:
            listed.append((each, *found))
            newest = each.created if newest is None else max(newest, each.created)
    listed.sort(key=lambda found: found[0].created, reverse=True)
    return _newest(service, named, listed, foreign, is_all=is_all)


def _newest(
    service: JobService,
    named: Sequence[SpecJob],
    listed: list[tuple[ListedJob, str, Submission]],
    foreign: dict[str, DifferentJob],
    *,
    is_all: bool,
) -> SpecJobs:
    """Describe the newest listed job, if it is newer than those with known names, and count the others."""
    alive = [each.job.name for each in named if each.job.is_alive]
    alive += [each.name for each, _, _ in listed if each.status == _IN_PROGRESS]
    newest = named[0] if named else None
    others = len(named) + len(listed) - 1
    while listed and (newest is None or listed[0][0].created > newest.job.created):
        each, run_id, sent = listed.pop(0)
        described = service.find(each.name)
        if described is None or described.is_deleted:  # since the listing
            others -= 1
            continue
        try:
            require_own(service, described, sent.request, sent.digest, name_is_derived=True)
        except DifferentJob as different:  # its tag was copied
            foreign[each.name] = different
            others -= 1
            continue
        newest = SpecJob(job=described, run_id=run_id)
        break
    if newest is None:
        return SpecJobs(newest=None)
    rest = tuple(name for name in alive if name not in (newest.job.name, *foreign))
    return SpecJobs(newest=newest, others=others, alive=rest, is_all=is_all)


class _Recognizer:
    """Recognizes jobs of a spec in SageMaker's list. ``calls``: how many had to be asked for their tags."""

    def __init__(self, service: JobService, job: Compiled) -> None:
        self._service, self._job = service, job
        self._known: dict[str, tuple[str, Submission]] = {}
        self._run_ids: set[str] = set()
        self.calls = self.calls_for_older = 0

    def is_named(self, listed: ListedJob) -> bool:
        """Return whether a job has a name as those of the spec."""
        pattern = rf"{re.escape(self._job.plan.name)}-[0-9a-f]{{10}}(?:{_REPETITION.pattern})?"
        return re.fullmatch(pattern, listed.name) is not None

    def submission_of(self, listed: ListedJob, *, is_older: bool) -> tuple[str, Submission] | None:
        """Return the run id and the submission that has the name of a job; None if it is not of the spec."""
        first = listed.name[: len(self._job.plan.name) + 11]
        if first not in self._known:
            self.calls += 1
            self.calls_for_older += is_older
            try:
                run_id = self._service.tags_of_listed(listed).get(RUN_ID_TAG)
            except JobRefused:  # it is gone since
                return None
            if run_id is None or run_id in self._run_ids or not is_run_id(run_id):
                return None
            self._run_ids.add(run_id)
            self._known.update((each.name, (run_id, each)) for each in submissions(self._job, run_id))
        return self._known.get(first)
