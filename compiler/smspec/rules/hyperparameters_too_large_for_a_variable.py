"""Linux limits a variable or an argument to 128 KiB, and a hundred hyperparameters can be twice as long."""

from __future__ import annotations

import json
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec
from smspec.spec.starter import makes_arguments

RULE = Rule("SM380", "hyperparameters too large for a variable", "warning")

# MAX_ARG_STRLEN of Linux, with room for the name of the variable and the rest of SM_TRAINING_ENV.
MOST = 131_072 - 4_096


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Warn where SM_HPS and SM_TRAINING_ENV would have to be omitted."""
    if not makes_arguments(job):
        return
    written = {hyperparameter.name: hyperparameter.value for hyperparameter in job.hyperparameters}
    size = len(json.dumps(written, default=str).encode())
    if size > MOST:
        yield RULE.at(
            ("hyperparameters",),
            f"`hyperparameters` are {size:,} bytes, too large for one variable: `SM_HPS` is not set",
            help="move large values to a file of the source, or to a channel",
            on="key",
        )
