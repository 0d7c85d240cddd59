"""Either all channels go to every host, or each names its groups."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import items
from smspec.service.request import Request

RULE = Rule("SM451", "channel without an instance group", evidence="service-message")


def check(request: Request) -> Iterator[Finding]:
    """Reject a channel in S3 without InstanceGroupNames in a job where a different one has them."""
    # A different rule reports a group that the job does not have.
    if not items(request.payload, "ResourceConfig", "InstanceGroups"):
        return
    in_s3 = [channel for channel in request.channels if channel.s3]
    assigned = [channel for channel in in_s3 if items(channel.s3, "InstanceGroupNames")]
    key = request.word("InstanceGroupNames", "instance_groups")
    for channel in in_s3:
        if assigned and not channel.s3.get("InstanceGroupNames"):
            yield RULE.at(
                (*channel.s3_path, "InstanceGroupNames"),
                f"`{key}` of {channel.label} is not set, but {assigned[0].label} sets it",
                help="add it to every channel, or remove it from all",
            )
