"""States that create the alternatives of one job: what `smspec render --step-functions` makes of `hosts.any_of`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from smspec.importer.imported import Imported, RequestNotFound
from smspec.importer.naming import names
from smspec.importer.request_equality import differences
from smspec.source.frozen import replace
from smspec.source.node import dotted

_NUMBERED = re.compile(r"(?P<job>(?P<name>.+)-[0-9a-f]{10})-a(?P<number>[1-9])")
_OWN = (
    ("ResourceConfig", "InstanceType"),
    ("ResourceConfig", "InstanceCount"),
    ("ResourceConfig", "VolumeSizeInGB"),
    ("EnableManagedSpotTraining",),
    ("StoppingCondition", "MaxWaitTimeInSeconds"),
)
"""The members that the keys of an alternative become."""


def alternatives_of(states: Sequence[Imported]) -> Imported | None:
    """Return the jobs of states, in their order, as one job with alternatives.

    None if smspec has not named them as alternatives of one job. Raise `RequestNotFound` if they differ in more than
    `hosts.any_of` expresses.
    """
    found = [_NUMBERED.fullmatch(str(each.request.get("TrainingJobName"))) for each in states]
    matches = [match for match in found if match is not None]
    numbers = [int(match["number"]) for match in matches]
    if numbers != list(range(1, len(states) + 1)) or len({match["name"] for match in matches}) != 1:
        return None
    first, *others = (
        {name: value for name, value in each.request.items() if name != "TrainingJobName"} for each in states
    )
    for number, other in enumerate(others, 2):
        for path in differences(first, other):
            if path not in _OWN:
                raise RequestNotFound(
                    f"alternatives 1 and {number} differ in `{dotted(path)}`, but those of `hosts.any_of` share it"
                )
    if "job_name" not in names(matches[0]["job"], "", first):
        # Otherwise the request has changed since smspec named it, and alternatives have no names of their own.
        first = {**first, "TrainingJobName": matches[0]["job"]}
    return replace(
        states[0],
        form=f"a Step Functions state machine with {len(states)} alternatives",
        request=first,
        alternatives=tuple(others),
        stem=matches[0]["name"],
        not_imported=tuple(dict.fromkeys(part for each in states for part in each.not_imported)),
    )
