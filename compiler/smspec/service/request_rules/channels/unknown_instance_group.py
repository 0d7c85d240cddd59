"""A channel can be assigned only to groups of the job."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.fix import spelling_fix
from smspec.diagnostics.suggestions import nearest
from smspec.service.member_names import shown
from smspec.service.members import items, member
from smspec.service.request import Request

RULE = Rule("SM433", "unknown instance group", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Reject a channel for an instance group that ResourceConfig does not have."""
    groups = [
        str(member(group, "InstanceGroupName")) for group in items(request.payload, "ResourceConfig", "InstanceGroups")
    ]
    for index, channel in enumerate(items(request.payload, "InputDataConfig")):
        here = ("DataSource", "S3DataSource", "InstanceGroupNames")
        for position, name in enumerate(items(channel, *here)):
            if isinstance(name, str) and name not in groups:
                near = nearest(name, groups)
                yield RULE.at(
                    ("InputDataConfig", index, *here, position),
                    f"{HERE}: the job has no instance group `{shown(name)}`",
                    label=f"did you mean `{near}`?" if near else "",
                    help=_way_out(request, groups),
                    fix=spelling_fix(name, groups),
                )


def _way_out(request: Request, groups: list[str]) -> str:
    if groups:
        return ""
    where = request.word("ResourceConfig.InstanceGroups", "hosts.groups")
    return f"remove the key, or add groups to `{where}`"
