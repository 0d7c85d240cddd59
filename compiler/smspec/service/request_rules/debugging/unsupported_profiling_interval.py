"""The profiler supports six intervals."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.members import number
from smspec.service.request import Request

RULE = Rule("SM474", "unsupported profiling interval", evidence="api-doc")
INTERVALS = (100, 200, 500, 1_000, 5_000, 60_000)


def check(request: Request) -> Iterator[Finding]:
    """Reject any other ProfilingIntervalInMilliseconds."""
    interval = number(request.payload, "ProfilerConfig", "ProfilingIntervalInMilliseconds")
    if interval is not None and interval not in INTERVALS:
        *most, last = (f"{known:,}" for known in INTERVALS)
        yield RULE.at(
            ("ProfilerConfig", "ProfilingIntervalInMilliseconds"),
            f"{HERE} is {interval:,}, which is not a supported interval",
            help=f"use {', '.join(most)}, or {last} ms; the default is 500",
        )
