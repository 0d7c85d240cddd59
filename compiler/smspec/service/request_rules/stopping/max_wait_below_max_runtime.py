"""MaxWaitTimeInSeconds covers both the wait for spot capacity and the run."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import DEFAULT_MAX_RUNTIME, Request

RULE = Rule("SM465", "maximum wait time below the maximum runtime", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject a MaxWaitTimeInSeconds below MaxRuntimeInSeconds. Equal ones are accepted."""
    wait, run = request.max_wait, request.max_runtime
    if not request.uses_spot or wait is None or run is None or not 0 < wait < run:
        return
    longest = request.word("MaxRuntimeInSeconds", "stopping.max_runtime")
    which = " (the default)" if run == DEFAULT_MAX_RUNTIME else ""
    yield RULE.at(
        ("StoppingCondition", "MaxWaitTimeInSeconds"),
        f"{HERE} is {request.time(wait)}, but `{longest}` is {request.time(run)}{which}",
        help=f"set `{longest}` to {request.time(wait)} or less, or raise this to {request.time(run)} or more",
    )
