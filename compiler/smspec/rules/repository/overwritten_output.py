"""One output prefix and one job name in two accounts or regions: the later model overwrites the earlier one."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Note, Rule
from smspec.rules.repository.cross_spec_finding import CrossSpecFinding
from smspec.rules.repository.same_name_jobs import same_name_jobs
from smspec.service.s3_address import normal
from smspec.spec.repository_facts import Repository

RULE = Rule("SM707", "overwritten output")


def check(repository: Repository) -> Iterator[CrossSpecFinding]:
    outputs = ((normal(job.output.text) + job.job_name.text, job) for job in repository.jobs if job.output)
    # In one account and region SageMaker rejects the second job, which a different rule reports.
    for earlier, job in same_name_jobs(outputs, same_place=False):
        assert job.output and earlier.output
        finding = RULE.at(
            job.output.path,
            f"`{job.job_name.text}` overwrites the model of a different job: same name and `output` prefix",
            help="change the name or `output` of one of the jobs",
        )
        note = Note("the other job uses the prefix here", earlier.output.span)
        yield CrossSpecFinding(finding=finding, span=job.output.span, specs=(job,), notes=(note,))
