"""A checkpoint prefix that contains what a different job writes: SageMaker copies all of it into the job at startup."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Note, Rule
from smspec.rules.repository.cross_spec_finding import CrossSpecFinding, named
from smspec.service.s3_address import above, ends_inside_a_name, longer_names, normal
from smspec.spec.repository_facts import JobFacts, Repository, Stated

RULE = Rule("SM703", "checkpoint prefix around a different job's files", "warning")

_Outer = dict[str, dict[str, tuple[JobFacts, Stated]]]
"""Normalized checkpoint prefix → file → the job, and where the prefix is written."""

_Inside = dict[tuple[str, str], dict[str, tuple[JobFacts, Stated, str]]]
"""Checkpoint prefix and its file → the file of a different job → that job, where it writes, and what."""


def check(repository: Repository) -> Iterator[CrossSpecFinding]:
    outer: _Outer = {}
    for job in repository.jobs:
        if job.checkpoints:
            outer.setdefault(normal(job.checkpoints.text), {}).setdefault(job.file, (job, job.checkpoints))
    inside: _Inside = {}
    for job in repository.jobs if outer else ():
        for kind, stated in _written(job):
            prefix = normal(stated.text)
            # A different rule reports two jobs with the same checkpoints.
            for around in above(prefix) if kind == "checkpoints" else (prefix, *above(prefix)):
                for file in outer.get(around, ()):
                    if file != job.file:
                        inside.setdefault((around, file), {}).setdefault(job.file, (job, stated, kind))
    _add_longer_names(repository, outer, inside)
    for (prefix, file), found in inside.items():
        job, place = outer[prefix][file]
        inner, stated, kind = next(iter(found.values()))
        jobs = [writer for writer, _, _ in found.values()]
        is_below = normal(stated.text).startswith(prefix)
        finding = RULE.at(
            place.path,
            f"`checkpoints` of `{job.name.text}` contain files of {named(jobs)}",
            help="use a longer prefix: SageMaker copies everything below it into the container at startup"
            if is_below
            else "add a `/` at the end: SageMaker copies every key that begins with the prefix at startup",
        )
        note = Note(f"the {kind} of `{inner.name.text}` {'is' if kind == 'output' else 'are'} in it", stated.span)
        yield CrossSpecFinding(finding=finding, span=place.span, specs=(job,), notes=(note,))


def _add_longer_names(repository: Repository, outer: _Outer, inside: _Inside) -> None:
    """Add what a checkpoint prefix without a trailing `/` matches as text: `exp-10` for `exp-1`."""
    around = [
        (prefix, file, stated)
        for prefix, found in outer.items()
        for file, (_, stated) in found.items()
        if ends_inside_a_name(stated.text)
    ]
    written: dict[str, list[tuple[JobFacts, Stated, str]]] = {}
    for job in repository.jobs if around else ():
        for kind, stated in _written(job):
            written.setdefault(normal(stated.text), []).append((job, stated, kind))
    addresses = sorted(written)
    for prefix, file, shorter in around:
        for address in longer_names(shorter.text, addresses):
            for job, stated, kind in written[address]:
                if job.file != file:
                    inside.setdefault((prefix, file), {}).setdefault(job.file, (job, stated, kind))


def _written(job: JobFacts) -> Iterator[tuple[str, Stated]]:
    for kind, stated in (
        ("checkpoints", job.checkpoints),
        ("output", job.output),
        ("TensorBoard data", job.tensorboard),
    ):
        if stated:
            yield kind, stated
