"""Rules about the alternatives of `hosts.any_of` together."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.source import Path, dotted
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAlternatives:
    """``names`` are the names in the requests, ``paths`` the alternatives in the spec.

    ``named_at`` is the key with which the author names the job; empty if its name is derived from its content.
    """

    names: tuple[str, ...]
    paths: tuple[Path, ...]
    named_at: Path = ()


ALTERNATIVES_WITH_ONE_JOB_NAME = Rule("SM419", "alternatives with one job name", evidence="api-doc")


def alternatives_with_one_job_name(alternatives: NamedAlternatives) -> Iterator[Finding]:
    """Reject alternatives that SageMaker could not create one after the other.

    SageMaker accepts a name once, but two alternatives have the same.
    """
    if alternatives.named_at and len(alternatives.names) > 1:
        yield ALTERNATIVES_WITH_ONE_JOB_NAME.at(
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
            yield ALTERNATIVES_WITH_ONE_JOB_NAME.at(
                alternatives.paths[index],
                f"{HERE} is the same job as `{dotted(alternatives.paths[earlier])}`",
                help="remove it, or change its `instance_type`, `count`, `volume`, or `spot`",
            )


RULES: tuple[Callable[[NamedAlternatives], Iterator[Finding]], ...] = (alternatives_with_one_job_name,)


def alternative_findings(alternatives: NamedAlternatives) -> Iterator[Finding]:
    """Yield what is wrong with the alternatives of a job together."""
    for check in RULES:
        yield from check(alternatives)
