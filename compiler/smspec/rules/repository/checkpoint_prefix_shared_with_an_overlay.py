"""One checkpoint prefix for two different trainings of one spec.

A change of hosts continues the same training; a change of data or hyperparameters makes it a different one.
"""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Rule
from smspec.rules.repository.cross_spec_finding import MOST_NAMED, CrossSpecFinding
from smspec.service.s3_address import normal
from smspec.spec.repository_facts import JobFacts, Repository

RULE = Rule("SM704", "checkpoint prefix shared with an overlay", "warning")


def check(repository: Repository) -> Iterator[CrossSpecFinding]:
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
        finding = RULE.at(
            place.path,
            f"{overlays} {changes} {keys}, but {keeps} `checkpoints` of {rest}",
            help="set `checkpoints` in the overlay to a separate prefix, or to null",
        )
        yield CrossSpecFinding(finding=finding, span=place.span, specs=tuple(changed))


def _changes(first: JobFacts, job: JobFacts) -> list[str]:
    before = dict(first.training)
    return [key for key, digest in job.training if before.get(key) != digest]
