"""Hyperparameters become `--key value`, and variables SM_HP_KEY."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec
from smspec.spec.starter import makes_arguments

RULE = Rule("SM320", "hyperparameter that cannot become an argument")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Refuse `=` in a name, and NUL anywhere, where hyperparameters are made into arguments."""
    if not makes_arguments(job):
        return
    for hyperparameter in job.hyperparameters:
        path = ("hyperparameters", hyperparameter.name)
        if "=" in hyperparameter.name or "\0" in hyperparameter.name:
            yield RULE.at(
                path,
                "the name becomes an argument and a variable of the program, so it holds neither `=` nor NUL",
                help="name it otherwise, or set `args_style: none`",
                on="key",
            )
        elif isinstance(hyperparameter.value, str) and "\0" in hyperparameter.value:
            yield RULE.at(
                path,
                f"`{hyperparameter.name}` becomes an argument of the program, and no argument holds a NUL",
                help="take it out, or set `args_style: none`",
            )
