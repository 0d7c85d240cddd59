"""Rules about conflicts between specs that are valid on their own: one file per rule, named after the problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.rules.repository import (
    channel_with_data_of_another_job,
    checkpoint_prefix_shared_with_an_overlay,
    checkpoints_around_another_job,
    duplicate_job_name,
    duplicate_name,
    output_prefix_of_another_job,
    overwritten_output,
    shared_checkpoint_prefix,
    unused_base_spec,
)
from smspec.rules.repository.cross_spec_finding import CrossSpecFinding
from smspec.spec.repository_facts import Repository

RULES: tuple[Callable[[Repository], Iterator[CrossSpecFinding]], ...] = (
    output_prefix_of_another_job.check,
    shared_checkpoint_prefix.check,
    checkpoints_around_another_job.check,
    checkpoint_prefix_shared_with_an_overlay.check,
    channel_with_data_of_another_job.check,
    duplicate_name.check,
    duplicate_job_name.check,
    overwritten_output.check,
    unused_base_spec.check,
)


def cross_spec_findings(repository: Repository) -> list[CrossSpecFinding]:
    """Return every conflict between the specs of a repository."""
    return [reported for rule in RULES for reported in rule(repository)]
