"""A finding that involves more than one spec."""

from __future__ import annotations

from collections.abc import Sequence

from smspec.diagnostics import Finding, Note
from smspec.source import Span
from smspec.source.frozen import dataclass
from smspec.spec.repository_facts import BaseFacts, JobFacts

MOST_NAMED = 3
"""How many jobs a message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossSpecFinding:
    """``finding`` is at ``span`` and is about ``specs``; each of these specs may suppress it."""

    finding: Finding
    span: Span
    specs: tuple[JobFacts | BaseFacts, ...]
    notes: tuple[Note, ...] = ()


def named(jobs: Sequence[JobFacts]) -> str:
    """Return the names of jobs as a message lists them, at most a few."""
    names = [f"`{job.name.text}`" for job in jobs]
    shown = names if len(names) <= MOST_NAMED + 1 else [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
