"""One checkpoint prefix for two jobs: each starts from the checkpoints that the other wrote."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Note, Rule
from smspec.diagnostics.quoting import quoted
from smspec.rules.repository.cross_spec_finding import CrossSpecFinding, named
from smspec.rules.repository.sharing import sharings
from smspec.service.s3_address import normal
from smspec.spec.repository_facts import Repository

RULE = Rule("SM702", "shared checkpoint prefix")

_HELP = "use a separate prefix for each job: SageMaker copies the files there into both"


def check(repository: Repository) -> Iterator[CrossSpecFinding]:
    keyed_jobs = ((normal(job.checkpoints.text), job, job.checkpoints) for job in repository.jobs if job.checkpoints)
    for first, *others in sharings(keyed_jobs):
        if len(first.jobs) > 1:
            notes = tuple(Note(f"`{job.name.text}` uses it", job.name.span) for job in first.jobs[:2])
            message = f"{named(first.jobs)} share the checkpoint prefix {quoted(first.stated.text)}"
            finding = RULE.at(first.stated.path, message, help=_HELP)
            yield CrossSpecFinding(finding=finding, span=first.stated.span, specs=first.jobs[1:], notes=notes)
        for party in others:
            message = f"{named((*party.jobs, *first.jobs))} share the checkpoint prefix {quoted(party.stated.text)}"
            finding = RULE.at(party.stated.path, message, help=_HELP)
            note = Note(f"prefix of {named(first.jobs)}", first.stated.span)
            yield CrossSpecFinding(finding=finding, span=party.stated.span, specs=party.jobs, notes=(note,))
