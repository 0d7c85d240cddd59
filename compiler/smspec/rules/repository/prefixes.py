"""Rules about S3 prefixes that several jobs use.

An output prefix is reported only for a pair of specs: each model is below the name of its job, and a prefix that more
specs share, or a base spec sets, is intended. Checkpoints have no job name in their path, so each job would start with
those of the other. Overlays are one job to their author, and count only if they train something else.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from smspec.diagnostics import Note, Rule
from smspec.diagnostics.quoting import quoted
from smspec.rules.repository.cross_spec_finding import MOST_NAMED, CrossSpecFinding, named
from smspec.service.s3_address import AS_A_FOLDER, above, ends_inside_a_name, longer_data, longer_names, normal
from smspec.source import Span
from smspec.source.frozen import dataclass
from smspec.spec.repository_facts import JobFacts, RepositoryFacts, Stated


@dataclass(frozen=True, slots=True)
class Party:
    """Jobs in different files that get a value from one place: their own file, or one base spec."""

    stated: Stated
    jobs: tuple[JobFacts, ...]


def sharings(keyed_jobs: Iterable[tuple[Hashable, JobFacts, Stated]]) -> Iterator[tuple[Party, ...]]:
    """Yield, for every key that several files have, the parties that have it; a file counts once per key."""
    groups: dict[Hashable, dict[str, tuple[JobFacts, Stated]]] = {}
    for key, job, stated in keyed_jobs:
        groups.setdefault(key, {}).setdefault(job.file, (job, stated))
    for files in groups.values():
        if len(files) > 1:
            places: dict[Span, tuple[Stated, list[JobFacts]]] = {}
            for job, stated in files.values():
                places.setdefault(stated.span, (stated, []))[1].append(job)
            yield tuple(Party(stated, tuple(jobs)) for stated, jobs in places.values())


OUTPUT_PREFIX_OF_ANOTHER_JOB = Rule("SM701", "output prefix of another job", "warning")


def output_prefix_of_another_job(repository: RepositoryFacts) -> Iterator[CrossSpecFinding]:
    """Warn about outputs of two jobs below one prefix. SageMaker appends the job name, so nothing is overwritten.

    It is a risk where a spec was copied and its output was forgotten: two jobs set the same prefix separately. A prefix
    that comes from one base spec is intended, and so is one that three or more specs set: that is a team's convention.
    """
    keyed_jobs = ((normal(job.output.text), job, job.output) for job in repository.jobs if job.output)
    for parties in sharings(keyed_jobs):
        jobs = [job for party in parties for job in party.jobs]
        # One origin is a base spec; one job name is reported by a different rule, whatever the prefix.
        if len(parties) != 2 or len(jobs) != 2 or jobs[0].job_name.text == jobs[1].job_name.text:
            continue
        earlier, (place, job) = jobs[0], (parties[1].stated, jobs[1])
        finding = OUTPUT_PREFIX_OF_ANOTHER_JOB.at(
            place.path,
            f"`{job.name.text}` and `{earlier.name.text}` share the `output` prefix",
            help="use separate prefixes, or set the prefix once in a base spec that both extend",
        )
        note = Note(f"prefix of `{earlier.name.text}`", parties[0].stated.span)
        yield CrossSpecFinding(finding=finding, span=place.span, specs=(job,), notes=(note,))


SHARED_CHECKPOINT_PREFIX = Rule("SM702", "shared checkpoint prefix")

_HELP = "use a separate prefix for each job: SageMaker copies the files there into both"


def shared_checkpoint_prefix(repository: RepositoryFacts) -> Iterator[CrossSpecFinding]:
    """Reject one checkpoint prefix for two jobs: each starts from the checkpoints that the other wrote."""
    keyed_jobs = ((normal(job.checkpoints.text), job, job.checkpoints) for job in repository.jobs if job.checkpoints)
    for first, *others in sharings(keyed_jobs):
        if len(first.jobs) > 1:
            notes = tuple(Note(f"`{job.name.text}` uses it", job.name.span) for job in first.jobs[:2])
            message = f"{named(first.jobs)} share the checkpoint prefix {quoted(first.stated.text)}"
            finding = SHARED_CHECKPOINT_PREFIX.at(first.stated.path, message, help=_HELP)
            yield CrossSpecFinding(finding=finding, span=first.stated.span, specs=first.jobs[1:], notes=notes)
        for party in others:
            message = f"{named((*party.jobs, *first.jobs))} share the checkpoint prefix {quoted(party.stated.text)}"
            finding = SHARED_CHECKPOINT_PREFIX.at(party.stated.path, message, help=_HELP)
            note = Note(f"prefix of {named(first.jobs)}", first.stated.span)
            yield CrossSpecFinding(finding=finding, span=party.stated.span, specs=party.jobs, notes=(note,))


CHECKPOINTS_AROUND_ANOTHER_JOB = Rule("SM703", "checkpoint prefix around a different job's files", "warning")

_Outer = dict[str, dict[str, tuple[JobFacts, Stated]]]
"""Normalized checkpoint prefix → file → the job, and where the prefix is written."""

_Inside = dict[tuple[str, str], dict[str, tuple[JobFacts, Stated, str]]]
"""Checkpoint prefix and its file → the file of a different job → that job, where it writes, and what."""


def checkpoints_around_another_job(repository: RepositoryFacts) -> Iterator[CrossSpecFinding]:
    """Warn about a checkpoint prefix that contains what a different job writes, of which SageMaker copies all."""
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
        finding = CHECKPOINTS_AROUND_ANOTHER_JOB.at(
            place.path,
            f"`checkpoints` of `{job.name.text}` contain files of {named(jobs)}",
            help="use a longer prefix: SageMaker copies everything below it into the container at startup"
            if is_below
            else "add a `/` at the end: SageMaker copies every key that begins with the prefix at startup",
        )
        note = Note(f"the {kind} of `{inner.name.text}` {'is' if kind == 'output' else 'are'} in it", stated.span)
        yield CrossSpecFinding(finding=finding, span=place.span, specs=(job,), notes=(note,))


def _add_longer_names(repository: RepositoryFacts, outer: _Outer, inside: _Inside) -> None:
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


CHECKPOINT_PREFIX_SHARED_WITH_AN_OVERLAY = Rule("SM704", "checkpoint prefix shared with an overlay", "warning")


def checkpoint_prefix_shared_with_an_overlay(repository: RepositoryFacts) -> Iterator[CrossSpecFinding]:
    """Warn about one checkpoint prefix for two different trainings of one spec.

    A change of hosts continues the same training; a change of data or hyperparameters makes it a different one.
    """
    shared: dict[tuple[str, str], list[JobFacts]] = {}
    for job in repository.jobs:
        if job.checkpoints:
            shared.setdefault((job.file, normal(job.checkpoints.text)), []).append(job)
    for first, *others in shared.values():
        changed = [job for job in others if job.training != first.training]
        if not changed:
            continue
        place = changed[0].checkpoints
        assert place is not None
        names = [f"`{job.overlay}`" for job in changed]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        overlays = f"the overlay{'s' if len(names) > 1 else ''} {', '.join(names[:MOST_NAMED])}{more}"
        keys = ", ".join(dict.fromkeys(f"`{key}`" for job in changed for key in _changes(first, job)))
        changes, keeps = ("changes", "keeps") if len(names) == 1 else ("change", "keep")
        rest = "the job without it" if first.overlay is None else f"the overlay `{first.overlay}`"
        finding = CHECKPOINT_PREFIX_SHARED_WITH_AN_OVERLAY.at(
            place.path,
            f"{overlays} {changes} {keys}, but {keeps} `checkpoints` of {rest}",
            help="set `checkpoints` in the overlay to a separate prefix, or to null",
        )
        yield CrossSpecFinding(finding=finding, span=place.span, specs=tuple(changed))


def _changes(first: JobFacts, job: JobFacts) -> list[str]:
    before = dict(first.training)
    return [key for key, digest in job.training if before.get(key) != digest]


CHANNEL_WITH_DATA_OF_ANOTHER_JOB = Rule("SM709", "channel with the data of a different job", "warning")


def channel_with_data_of_another_job(repository: RepositoryFacts) -> Iterator[CrossSpecFinding]:
    """Warn about a channel whose prefix, without a trailing `/`, also matches the data of a different job."""
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
        finding = CHANNEL_WITH_DATA_OF_ANOTHER_JOB.at(
            stated.path,
            f"the channel `{name}` of `{job.name.text}` also matches {quoted(place.text)}",
            help=AS_A_FOLDER,
        )
        note = Note(f"`{owner.name.text}` uses it", place.span)
        yield CrossSpecFinding(finding=finding, span=stated.span, specs=(job,), notes=(note,))


RULES = (
    output_prefix_of_another_job,
    shared_checkpoint_prefix,
    checkpoints_around_another_job,
    checkpoint_prefix_shared_with_an_overlay,
    channel_with_data_of_another_job,
)
