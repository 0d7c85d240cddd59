"""Rules about names and files that several specs use."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from smspec.diagnostics import Note, Rule
from smspec.rules.repository.cross_spec_finding import CrossSpecFinding
from smspec.service.s3_address import normal
from smspec.spec.repository_facts import JobFacts, RepositoryFacts

Place = tuple["str | None", "str | None"]


def may_meet(one: Place, other: Place) -> bool:
    """Return whether two accounts and regions can be the same; an unknown one can be any."""
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def same_name_jobs(
    keyed_jobs: Iterable[tuple[Hashable, JobFacts]], *, same_place: bool
) -> Iterator[tuple[JobFacts, JobFacts]]:
    """Yield (earlier job, job) of two files with one key, once per job.

    ``same_place`` True: only jobs that may be in one account and region; False: only jobs that cannot be.

    Jobs with one name, grouped by where names are unique: in an account and a region.
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


DUPLICATE_NAME = Rule("SM705", "duplicate name", "warning")


def duplicate_name(repository: RepositoryFacts) -> Iterator[CrossSpecFinding]:
    """Warn about one `name` for two specs: their images, directories below `build/`, and job names collide."""
    for earlier, job in same_name_jobs(((job.name.text, job) for job in repository.jobs), same_place=True):
        finding = DUPLICATE_NAME.at(
            job.name.path,
            f"`name` `{job.name.text}` is also used in `{earlier.name.span.file}`",
            help="use a different name: both jobs share an image repository and a directory in `build/`",
        )
        note = Note("first used here", earlier.name.span)
        yield CrossSpecFinding(finding=finding, span=job.name.span, specs=(job,), notes=(note,))


DUPLICATE_JOB_NAME = Rule("SM706", "duplicate job name")


def duplicate_job_name(repository: RepositoryFacts) -> Iterator[CrossSpecFinding]:
    """Reject one `job_name` for two specs: the service accepts a name once per account and region."""
    keyed_jobs = ((job.job_name.text, job) for job in repository.jobs if job.names_itself)
    for earlier, job in same_name_jobs(keyed_jobs, same_place=True):
        finding = DUPLICATE_JOB_NAME.at(
            job.job_name.path,
            f"`job_name` `{job.job_name.text}` is also used in `{earlier.job_name.span.file}`",
            help="remove `job_name`, or use a different one: names of jobs are unique in an account and region",
        )
        note = Note("first used here", earlier.job_name.span)
        yield CrossSpecFinding(finding=finding, span=job.job_name.span, specs=(job,), notes=(note,))


OVERWRITTEN_OUTPUT = Rule("SM707", "overwritten output")


def overwritten_output(repository: RepositoryFacts) -> Iterator[CrossSpecFinding]:
    """Reject one output prefix and one job name in two accounts or regions: the later model overwrites the other."""
    outputs = ((normal(job.output.text) + job.job_name.text, job) for job in repository.jobs if job.output)
    # In one account and region SageMaker rejects the second job, which a different rule reports.
    for earlier, job in same_name_jobs(outputs, same_place=False):
        assert job.output and earlier.output
        finding = OVERWRITTEN_OUTPUT.at(
            job.output.path,
            f"`{job.job_name.text}` overwrites the model of a different job: same name and `output` prefix",
            help="change the name or `output` of one of the jobs",
        )
        note = Note("the other job uses the prefix here", earlier.output.span)
        yield CrossSpecFinding(finding=finding, span=job.output.span, specs=(job,), notes=(note,))


UNUSED_BASE_SPEC = Rule("SM708", "unused base spec", "warning")


def unused_base_spec(repository: RepositoryFacts) -> Iterator[CrossSpecFinding]:
    """Warn about a base spec that no spec extends: it is never checked as part of a job."""
    for base in repository.unused_bases:
        finding = UNUSED_BASE_SPEC.at(
            ("smspec",),
            "unused base spec: no spec extends it, and `name` is not set",
            help="add `name`: all other required keys are set"
            if base.lacks_only_a_name
            else "remove it, or check the directory of the spec that extends it too",
            on="key",
        )
        yield CrossSpecFinding(finding=finding, span=base.version, specs=(base,))


RULES = (duplicate_name, duplicate_job_name, overwritten_output, unused_base_spec)
