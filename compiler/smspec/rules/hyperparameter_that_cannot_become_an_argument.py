"""Hyperparameters become `--key value` arguments and SM_HP_KEY variables."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import quoted
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec
from smspec.spec.starter import makes_arguments

RULE = Rule("SM320", "hyperparameter that cannot become an argument")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject `=` in a name, and NUL anywhere, where hyperparameters become arguments."""
    if not makes_arguments(job):
        return
    for hyperparameter in job.hyperparameters:
        path = ("hyperparameters", hyperparameter.name)
        if "=" in hyperparameter.name or "\0" in hyperparameter.name:
            yield RULE.at(
                path,
                f"the name of hyperparameter {quoted(hyperparameter.name)} contains `=` or NUL",
                help="rename it, or set `entry_point.args_style: none`",
                on="key",
            )
        elif isinstance(hyperparameter.value, str) and "\0" in hyperparameter.value:
            yield RULE.at(
                path,
                f"`hyperparameters.{hyperparameter.name}` contains NUL, but becomes an argument of the script",
                help="remove the NUL, or set `entry_point.args_style: none`",
            )
