"""Data must not leave the allowed regions."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.service.policy import Policy
from smspec.service.request import Request
from smspec.source import Path

RULE = Rule("SM742", "disallowed region", evidence="policy")


def check(request: Request, policy: Policy) -> Iterator[Finding]:
    """Reject a job in a region that is not allowed; without a region, use that of the image."""
    allowed = policy.allowed_regions
    if allowed is None:
        return
    image = request.image
    region = request.region or (image.region if image else None)
    if region is not None and region not in allowed:
        yield RULE.at(
            ("AlgorithmSpecification", "TrainingImage"),
            f"`{policy.file_of('allowed_regions')}` does not allow the region `{region}`",
            help=f"use {one_of(allowed)}" if allowed else "ask the policy owner",
        )


def spec_path(request: Request) -> Path | None:
    """Return the key that sets the region, which has no request member; None where the region is that of the image."""
    return None if request.region is None else ("region",)
