"""The wait for spot hosts and the run are counted together."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import DEFAULT_MAX_RUNTIME, Request

RULE = Rule("SM465", "spot.max_wait below stopping.max_runtime", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Refuse a MaxWaitTimeInSeconds below MaxRuntimeInSeconds. Equal ones are accepted."""
    wait, run = request.max_wait, request.max_runtime
    if not request.uses_spot or wait is None or run is None or not 0 < wait < run:
        return
    longest = request.word("MaxRuntimeInSeconds", "stopping.max_runtime")
    which = ", the default" if run == DEFAULT_MAX_RUNTIME else ""
    yield RULE.at(
        ("StoppingCondition", "MaxWaitTimeInSeconds"),
        f"waiting and running together may take {request.time(wait)}, "
        f"less than the run alone: {request.time(run)}{which}",
        help=f"set `{longest}` to at most {request.time(wait)}, or make this longer",
    )
