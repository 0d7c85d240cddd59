"""One `name` for two specs: their images, directories below `build/`, and job names collide."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Note, Rule
from smspec.rules.repository.cross_spec_finding import CrossSpecFinding
from smspec.rules.repository.same_name_jobs import same_name_jobs
from smspec.spec.repository_facts import Repository

RULE = Rule("SM705", "duplicate name", "warning")


def check(repository: Repository) -> Iterator[CrossSpecFinding]:
    for earlier, job in same_name_jobs(((job.name.text, job) for job in repository.jobs), same_place=True):
        finding = RULE.at(
            job.name.path,
            f"`name` `{job.name.text}` is also used in `{earlier.name.span.file}`",
            help="use a different name: both jobs share an image repository and a directory in `build/`",
        )
        note = Note("first used here", earlier.name.span)
        yield CrossSpecFinding(finding=finding, span=job.name.span, specs=(job,), notes=(note,))
