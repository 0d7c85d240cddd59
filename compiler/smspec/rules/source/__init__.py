"""Rules about what the texts of a source mention: one file per rule, named after the problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.rules.source import (
    hyperparameters_without_a_reader,
    metric_that_nearly_matches,
    unread_pipe_channel,
    unused_checkpoints,
)
from smspec.rules.source.source_and_job import SourceAndJob
from smspec.source import SourceText
from smspec.spec.model import JobSpec

RULES: tuple[Callable[[SourceAndJob], Iterator[Finding]], ...] = (
    metric_that_nearly_matches.check,
    unused_checkpoints.check,
    hyperparameters_without_a_reader.check,
    unread_pipe_channel.check,
)


def source_text_findings(job: JobSpec, texts: tuple[SourceText, ...]) -> list[Finding]:
    """Return where a job does not match the texts of its source."""
    both = SourceAndJob(job=job, texts=texts)
    return [finding for rule in RULES for finding in rule(both)]
