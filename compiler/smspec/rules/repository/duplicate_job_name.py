"""One `job_name` for two specs: the service accepts a name once per account and region."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Note, Rule
from smspec.rules.repository.cross_spec_finding import CrossSpecFinding
from smspec.rules.repository.same_name_jobs import same_name_jobs
from smspec.spec.repository_facts import Repository

RULE = Rule("SM706", "duplicate job name")


def check(repository: Repository) -> Iterator[CrossSpecFinding]:
    keyed_jobs = ((job.job_name.text, job) for job in repository.jobs if job.names_itself)
    for earlier, job in same_name_jobs(keyed_jobs, same_place=True):
        finding = RULE.at(
            job.job_name.path,
            f"`job_name` `{job.job_name.text}` is also used in `{earlier.job_name.span.file}`",
            help="remove `job_name`, or use a different one: names of jobs are unique in an account and region",
        )
        note = Note("first used here", earlier.job_name.span)
        yield CrossSpecFinding(finding=finding, span=job.job_name.span, specs=(job,), notes=(note,))
