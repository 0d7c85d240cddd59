"""Hyperparameters `sagemaker_…` configure what a container starts; the spec has keys for that."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import BuiltImage, JobSpec

RULE = Rule("SM319", "reserved hyperparameter")

PREFIX = "sagemaker_"


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject them, except for an existing image that starts itself, which may read any of them."""
    if job.entry_point is None and not isinstance(job.image, BuiltImage):
        return
    for hyperparameter in job.hyperparameters:
        if hyperparameter.name.startswith(PREFIX):
            yield RULE.at(
                ("hyperparameters", hyperparameter.name),
                f"`hyperparameters.{hyperparameter.name}` is reserved: the script never receives it",
                help="remove it; use `entry_point`, `source`, or `distribution` instead",
                on="key",
            )
