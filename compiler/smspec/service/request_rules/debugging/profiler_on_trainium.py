"""SageMaker's profiler supports CPUs and GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.instance_families import TRAINIUM, family
from smspec.service.member_names import shown
from smspec.service.request import Request

RULE = Rule("SM368", "profiler on Trainium", "warning", evidence="third-party")


def check(request: Request) -> Iterator[Finding]:
    """Warn about an enabled profiler where the instances have Trainium chips."""
    profiler = request.payload.get("ProfilerConfig")
    if not isinstance(profiler, dict) or profiler.get("DisableProfiler") is True:
        return
    for _, kind in request.instance_types:
        if family(kind) in TRAINIUM:
            yield RULE.at(
                ("ProfilerConfig",),
                f"`ProfilerConfig` is set, but the profiler does not support `{shown(kind)}`",
                help="remove it, or set `DisableProfiler: true`",
                on="key",
            )
            return
