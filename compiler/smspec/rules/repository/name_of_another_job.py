"""One `name` for two specs: their images, their directories below `build/` and their job names look alike."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Note, Rule
from smspec.rules.repository.crossing import Crossing
from smspec.rules.repository.namesakes import namesakes
from smspec.spec.facts import Repository

RULE = Rule("SM705", "duplicate name", "warning")


def check(repository: Repository) -> Iterator[Crossing]:
    for earlier, job in namesakes(((job.name.text, job) for job in repository.jobs), meeting=True):
        finding = RULE.at(
            job.name.path,
            f"`{job.name.text}` is the name of another job",
            help="the name is the stem of job names, the repository of the image and the directory below `build/`: "
            "both jobs would use the same ones",
        )
        note = Note("the other one is here", earlier.name.span)
        yield Crossing(finding=finding, span=job.name.span, specs=(job,), notes=(note,))
