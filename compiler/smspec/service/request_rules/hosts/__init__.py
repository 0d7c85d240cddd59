"""ResourceConfig: what the job runs on."""

from __future__ import annotations

from smspec.service.request_rules.hosts import (
    hosts_without_count,
    hosts_without_instance_type,
    instance_groups_beside_an_instance_type,
    read_only_member,
    zero_hosts,
)
from smspec.service.request_rules.rule import Check

RULES: tuple[Check, ...] = (
    hosts_without_count.check,
    hosts_without_instance_type.check,
    instance_groups_beside_an_instance_type.check,
    read_only_member.check,
    zero_hosts.check,
)
