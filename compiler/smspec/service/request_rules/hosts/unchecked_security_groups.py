"""An Elastic Fabric Adapter works only between instances whose security group allows all traffic to itself."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.facts.instances import instance
from smspec.service.members import items
from smspec.service.request import Request

RULE = Rule("SM391", "unchecked security groups of EFA instances", "note", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Note that several instances, each type of which has an adapter, need such a group."""
    count = request.host_count
    if count is None or count < 2 or not items(request.payload, "VpcConfig", "SecurityGroupIds"):
        return
    facts = [instance(kind) for _, kind in request.instance_types]
    if facts and all(each is not None and each.efa_interfaces for each in facts):
        word = request.word("SecurityGroupIds", "network.security_groups")
        yield RULE.at(
            ("VpcConfig", "SecurityGroupIds"),
            f"`{word}` is not checked: EFA requires all traffic within the group",
            help="check that its rules allow all traffic from and to the group",
            on="key",
        )
