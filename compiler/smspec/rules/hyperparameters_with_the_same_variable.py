"""A hyperparameter is also available as SM_HP_NAME, with the name in upper case: two can share a variable."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec
from smspec.spec.starter import makes_arguments

RULE = Rule("SM376", "hyperparameters with the same variable", "warning")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Warn about hyperparameters whose names differ only in case; as arguments of the script they stay distinct."""
    if not makes_arguments(job):
        return
    first: dict[str, str] = {}
    for hyperparameter in job.hyperparameters:
        name = hyperparameter.name
        other = first.setdefault(name.upper(), name)
        if other != name:
            yield RULE.at(
                ("hyperparameters", name),
                f"hyperparameters `{name}` and `{other}` share the variable `SM_HP_{name.upper()}`",
                help="rename one of them, or read them as arguments only",
                on="key",
            )
