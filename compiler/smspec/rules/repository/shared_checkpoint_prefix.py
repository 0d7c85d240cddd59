"""One checkpoint prefix for two jobs: each begins with what the other left there."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Note, Rule
from smspec.rules.repository.crossing import Crossing, named
from smspec.rules.repository.prefixes import normal
from smspec.rules.repository.sharing import sharings
from smspec.spec.facts import Repository

RULE = Rule("SM702", "shared checkpoint prefix")

_HELP = "SageMaker copies what lies there into each of them at its start: give every job a prefix of its own"


def check(repository: Repository) -> Iterator[Crossing]:
    said = ((normal(job.checkpoints.text), job, job.checkpoints) for job in repository.jobs if job.checkpoints)
    for first, *others in sharings(said):
        if len(first.jobs) > 1:
            notes = tuple(Note(f"`{job.name.text}` is one of them", job.name.span) for job in first.jobs[:2])
            message = f"{named(first.jobs)} keep their checkpoints at one prefix"
            finding = RULE.at(first.stated.path, message, help=_HELP)
            yield Crossing(finding=finding, span=first.stated.span, specs=first.jobs[1:], notes=notes)
        for party in others:
            keeps = "keeps its" if len(party.jobs) == 1 else "keep their"
            message = f"{named(party.jobs)} {keeps} checkpoints at the prefix of {named(first.jobs)}"
            finding = RULE.at(party.stated.path, message, help=_HELP)
            note = Note(f"{named(first.jobs)} has it from here", first.stated.span)
            yield Crossing(finding=finding, span=party.stated.span, specs=party.jobs, notes=(note,))
