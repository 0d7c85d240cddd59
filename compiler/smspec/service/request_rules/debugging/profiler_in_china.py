"""SageMaker's profiler is not available in every region."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import Request

RULE = Rule("SM475", "profiler in a region of China", evidence="service-message")


def check(request: Request) -> Iterator[Finding]:
    """Reject ProfilerConfig in the regions cn-*. Without a region, use the partition of the role."""
    if "ProfilerConfig" not in request.payload:
        return
    region, role = request.region, request.role
    if region.startswith("cn-") if region else role is not None and role.partition == "aws-cn":
        yield RULE.at(
            ("ProfilerConfig",),
            f"{HERE} is not supported in {f'`{shown(region)}`' if region else 'the regions of China'}",
            help="remove the member",
            on="key",
        )
