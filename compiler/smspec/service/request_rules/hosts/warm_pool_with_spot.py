"""Spot instances are returned, so they cannot be kept warm."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM459", "warm pool with managed spot", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject KeepAlivePeriodInSeconds together with managed spot training."""
    if request.keep_alive > 0 and request.uses_spot:
        spot = request.word("EnableManagedSpotTraining", "spot")
        yield RULE.at(
            ("ResourceConfig", "KeepAlivePeriodInSeconds"),
            f"{HERE} cannot be combined with `{spot}`",
            help=f"remove one of them, this key or `{spot}`",
            on="key",
        )
