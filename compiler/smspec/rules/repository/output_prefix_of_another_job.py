"""Outputs of two jobs below one prefix. SageMaker appends the job name, so nothing is overwritten.

It is a risk where a spec was copied and its output was forgotten: two jobs set the same prefix separately. A prefix
that comes from one base spec is intended, and so is one that three or more specs set: that is a team's convention.
"""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Note, Rule
from smspec.rules.repository.cross_spec_finding import CrossSpecFinding
from smspec.rules.repository.sharing import sharings
from smspec.service.s3_address import normal
from smspec.spec.repository_facts import Repository

RULE = Rule("SM701", "output prefix of another job", "warning")


def check(repository: Repository) -> Iterator[CrossSpecFinding]:
    keyed_jobs = ((normal(job.output.text), job, job.output) for job in repository.jobs if job.output)
    for parties in sharings(keyed_jobs):
        jobs = [job for party in parties for job in party.jobs]
        # One origin is a base spec; one job name is reported by a different rule, whatever the prefix.
        if len(parties) != 2 or len(jobs) != 2 or jobs[0].job_name.text == jobs[1].job_name.text:
            continue
        earlier, (place, job) = jobs[0], (parties[1].stated, jobs[1])
        finding = RULE.at(
            place.path,
            f"`{job.name.text}` and `{earlier.name.text}` share the `output` prefix",
            help="use separate prefixes, or set the prefix once in a base spec that both extend",
        )
        note = Note(f"prefix of `{earlier.name.text}`", parties[0].stated.span)
        yield CrossSpecFinding(finding=finding, span=place.span, specs=(job,), notes=(note,))
