"""SageMaker accepts a name once, but two alternatives have the same."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.finding import HERE
from smspec.rules.alternatives.named_alternatives import NamedAlternatives
from smspec.source import dotted

RULE = Rule("SM419", "alternatives with one job name", evidence="api-doc")


def check(alternatives: NamedAlternatives) -> Iterator[Finding]:
    """Reject alternatives that SageMaker could not create one after the other."""
    if alternatives.named_at and len(alternatives.names) > 1:
        yield RULE.at(
            alternatives.named_at,
            f"{HERE} is the name of {len(alternatives.names)} alternatives, but SageMaker accepts a name once",
            help=f"remove `{dotted(alternatives.named_at)}`: each alternative then has its derived name",
            on="key",
        )
        return
    first: dict[str, int] = {}
    for index, name in enumerate(alternatives.names):
        earlier = first.setdefault(name, index)
        if earlier != index:
            yield RULE.at(
                alternatives.paths[index],
                f"{HERE} is the same job as `{dotted(alternatives.paths[earlier])}`",
                help="remove it, or change its `instance_type`, `count`, `volume`, or `spot`",
            )
