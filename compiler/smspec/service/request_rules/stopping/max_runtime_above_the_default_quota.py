"""An account can run jobs for five days unless AWS raises its quota."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request
from smspec.service.request_rules.stopping import overlong_max_runtime

RULE = Rule("SM353", "maximum runtime above the default quota", "warning", evidence="unverified")
DEFAULT_QUOTA = 5 * 86_400


def check(request: Request) -> Iterator[Finding]:
    """Warn about a MaxRuntimeInSeconds above the default quota."""
    run = request.max_runtime
    if run is not None and DEFAULT_QUOTA < run <= overlong_max_runtime.LONGEST:
        yield RULE.at(
            ("StoppingCondition", "MaxRuntimeInSeconds"),
            f"`{request.word('MaxRuntimeInSeconds', 'stopping.max_runtime')}` is {request.time(run)}, above "
            "the default quota of 5 days",
            help="check the quota “Longest run time for a training job” of the account",
        )
