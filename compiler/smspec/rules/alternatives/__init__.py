"""Rules about the alternatives of `hosts.any_of` together: one file per rule, named after the problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.rules.alternatives import alternatives_with_one_job_name
from smspec.rules.alternatives.named_alternatives import NamedAlternatives

RULES: tuple[Callable[[NamedAlternatives], Iterator[Finding]], ...] = (alternatives_with_one_job_name.check,)


def alternative_findings(alternatives: NamedAlternatives) -> Iterator[Finding]:
    """Yield what is wrong with the alternatives of a job together."""
    for check in RULES:
        yield from check(alternatives)
