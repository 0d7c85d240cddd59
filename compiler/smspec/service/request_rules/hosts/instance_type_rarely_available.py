"""The API model lists burstable types; most regions do not offer them for training."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.instance_families import family
from smspec.service.member_names import shown
from smspec.service.request import Request

RULE = Rule("SM352", "instance type rarely available", "warning", evidence="third-party")


def check(request: Request) -> Iterator[Finding]:
    """Warn about ml.t3 instances."""
    for path, kind in request.instance_types:
        if family(kind) == "t3":
            yield RULE.at(
                path,
                f"`{shown(kind)}` is rarely available for training",
                help="use `ml.m5.large` or larger",
            )
