"""What is wrong between specs that are right by themselves: one file a rule, named after the bad thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.rules.repository import (
    base_that_nothing_extends,
    checkpoints_around_another_job,
    checkpoints_of_another_overlay,
    job_name_of_another_job,
    name_of_another_job,
    output_prefix_of_another_job,
    output_that_overwrites_another,
    shared_checkpoint_prefix,
)
from smspec.rules.repository.crossing import Crossing
from smspec.spec.facts import Repository

RULES: tuple[Callable[[Repository], Iterator[Crossing]], ...] = (
    output_prefix_of_another_job.check,
    shared_checkpoint_prefix.check,
    checkpoints_around_another_job.check,
    checkpoints_of_another_overlay.check,
    name_of_another_job.check,
    job_name_of_another_job.check,
    output_that_overwrites_another.check,
    base_that_nothing_extends.check,
)


def crossings(repository: Repository) -> list[Crossing]:
    """Return everything that is wrong between the specs of a repository."""
    return [crossing for rule in RULES for crossing in rule(repository)]
