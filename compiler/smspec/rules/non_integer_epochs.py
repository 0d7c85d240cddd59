"""A pipe loop without its own `epochs` uses the hyperparameter of that name."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, PipeLoopEntry

RULE = Rule("SM303", "non-integer epochs")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a hyperparameter `epochs` that is not a valid number of epochs."""
    entry = job.entry_point
    if not isinstance(entry, PipeLoopEntry) or entry.epochs is not None:
        return
    for hyperparameter in job.hyperparameters:
        if hyperparameter.name == "epochs" and not _is_count(hyperparameter.value):
            yield RULE.at(
                ("hyperparameters", "epochs"),
                "`hyperparameters.epochs` must be an integer of 1 or more: the pipe loop uses it",
                help="use an integer, or set `entry_point.epochs`",
            )


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 1 and value % 1 == 0
