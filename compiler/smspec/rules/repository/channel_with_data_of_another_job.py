"""A channel whose prefix, without a trailing `/`, also matches the data of a different job."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Note, Rule
from smspec.diagnostics.quoting import quoted
from smspec.rules.repository.cross_spec_finding import CrossSpecFinding
from smspec.service.s3_address import AS_A_FOLDER, ends_inside_a_name, longer_data
from smspec.spec.repository_facts import JobFacts, Repository, Stated

RULE = Rule("SM709", "channel with the data of a different job", "warning")


def check(repository: Repository) -> Iterator[CrossSpecFinding]:
    read = [
        (job, name, stated)
        for job in repository.jobs
        for name, stated in job.channels
        if name not in job.manifests and ends_inside_a_name(stated.text)
    ]
    owners: dict[str, list[tuple[JobFacts, Stated]]] = {}
    for job in repository.jobs if read else ():
        for stated in (job.output, job.checkpoints, job.tensorboard, *(data for _, data in job.channels)):
            if stated:
                owners.setdefault(stated.text, []).append((job, stated))
    addresses = sorted(owners)
    reported = set()
    for job, name, stated in read:
        others = (
            (owner, place)
            for address in longer_data(stated.text, addresses)
            for owner, place in owners[address]
            if owner.file != job.file
        )
        owner, place = next(others, (None, None))
        if owner is None or place is None or stated.span in reported:
            continue
        reported.add(stated.span)
        finding = RULE.at(
            stated.path,
            f"the channel `{name}` of `{job.name.text}` also matches {quoted(place.text)}",
            help=AS_A_FOLDER,
        )
        note = Note(f"`{owner.name.text}` uses it", place.span)
        yield CrossSpecFinding(finding=finding, span=stated.span, specs=(job,), notes=(note,))
