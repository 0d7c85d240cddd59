"""The number of epochs can be set at the entry point or as a hyperparameter."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, PipeLoopEntry

RULE = Rule("SM302", "conflicting epochs")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject two different numbers of epochs."""
    entry = job.entry_point
    if not isinstance(entry, PipeLoopEntry) or entry.epochs is None:
        return
    for hyperparameter in job.hyperparameters:
        value = hyperparameter.value
        if hyperparameter.name == "epochs" and value != entry.epochs and str(value) != str(entry.epochs):
            yield RULE.at(
                ("hyperparameters", "epochs"),
                f"`hyperparameters.epochs` is {hyperparameter.text or value}, "
                f"but `entry_point.epochs` is {entry.epochs}",
                help="remove one of them",
            )
