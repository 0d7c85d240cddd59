"""Rules about conflicts between specs that are valid on their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.rules.repository import names, prefixes
from smspec.rules.repository.cross_spec_finding import CrossSpecFinding
from smspec.spec.repository_facts import RepositoryFacts

RULES: tuple[Callable[[RepositoryFacts], Iterator[CrossSpecFinding]], ...] = (*prefixes.RULES, *names.RULES)


def cross_spec_findings(repository: RepositoryFacts) -> list[CrossSpecFinding]:
    """Return every conflict between the specs of a repository."""
    return [reported for rule in RULES for reported in rule(repository)]
