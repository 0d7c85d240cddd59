"""A training plan is reserved capacity; spot capacity is what is left over."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import items, structure
from smspec.service.request import Request
from smspec.source import Path

RULE = Rule("SM350", "training plan with managed spot", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about a training plan in a job with managed spot training."""
    if not request.uses_spot:
        return
    hosts = structure(request.payload, "ResourceConfig")
    plans: list[Path] = [("ResourceConfig", "TrainingPlanArn")] if hosts.get("TrainingPlanArn") else []
    for index, preference in enumerate(items(hosts, "InstancePreferences")):
        if items(preference, "TrainingPlanArns"):
            plans.append(("ResourceConfig", "InstancePreferences", index, "TrainingPlanArns"))
    spot = request.word("EnableManagedSpotTraining", "spot")
    for path in plans:
        yield RULE.at(
            path,
            f"the training plan might not work with `{spot}`",
            help=f"remove the training plan, or `{spot}`",
            on="key",
        )
