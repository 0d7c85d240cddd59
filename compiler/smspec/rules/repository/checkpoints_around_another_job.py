"""A checkpoint prefix that contains what a different job writes: SageMaker copies all of it into the job at startup."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Note, Rule
from smspec.rules.repository.cross_spec_finding import CrossSpecFinding, named
from smspec.rules.repository.prefixes import above, normal
from smspec.spec.repository_facts import JobFacts, Repository, Stated

RULE = Rule("SM703", "checkpoint prefix around a different job's files", "warning")


def check(repository: Repository) -> Iterator[CrossSpecFinding]:
    outer: dict[str, dict[str, tuple[JobFacts, Stated]]] = {}
    for job in repository.jobs:
        if job.checkpoints:
            outer.setdefault(normal(job.checkpoints.text), {}).setdefault(job.file, (job, job.checkpoints))
    inside: dict[tuple[str, str], dict[str, tuple[JobFacts, Stated, str]]] = {}
    for job in repository.jobs if outer else ():
        for kind, stated in _written(job):
            prefix = normal(stated.text)
            # A different rule reports two jobs with the same checkpoints.
            for around in above(prefix) if kind == "checkpoints" else (prefix, *above(prefix)):
                for file in outer.get(around, ()):
                    if file != job.file:
                        inside.setdefault((around, file), {}).setdefault(job.file, (job, stated, kind))
    for (prefix, file), found in inside.items():
        job, place = outer[prefix][file]
        inner, stated, kind = next(iter(found.values()))
        jobs = [writer for writer, _, _ in found.values()]

        finding = RULE.at(
            place.path,
            f"`checkpoints` of `{job.name.text}` contain files of {named(jobs)}",
            help="use a longer prefix: SageMaker copies everything below it into the container at startup",
        )
        note = Note(f"the {kind} of `{inner.name.text}` {'is' if kind == 'output' else 'are'} in it", stated.span)
        yield CrossSpecFinding(finding=finding, span=place.span, specs=(job,), notes=(note,))


def _written(job: JobFacts) -> Iterator[tuple[str, Stated]]:
    for kind, stated in (
        ("checkpoints", job.checkpoints),
        ("output", job.output),
        ("TensorBoard data", job.tensorboard),
    ):
        if stated:
            yield kind, stated
