"""ResourceConfig: what the job runs on."""

from __future__ import annotations

from smspec.service.request_rules.hosts import (
    ebs_only_hosts_without_a_volume,
    hosts_that_are_seldom_offered,
    hosts_without_count,
    hosts_without_instance_type,
    instance_groups_beside_an_instance_type,
    long_warm_pool,
    placement_of_zero_hosts,
    placement_without_an_ultraserver,
    placements_beyond_the_hosts,
    read_only_member,
    repeated_instance_group,
    training_plan_with_spot,
    volume_key_alias,
    volume_key_on_hosts_with_local_storage,
    volume_on_hosts_with_local_storage,
    warm_pool_with_instance_groups,
    warm_pool_with_spot,
    zero_hosts,
)
from smspec.service.request_rules.rule import Check

RULES: tuple[Check, ...] = (
    ebs_only_hosts_without_a_volume.check,
    hosts_that_are_seldom_offered.check,
    hosts_without_count.check,
    hosts_without_instance_type.check,
    instance_groups_beside_an_instance_type.check,
    long_warm_pool.check,
    placement_of_zero_hosts.check,
    placement_without_an_ultraserver.check,
    placements_beyond_the_hosts.check,
    read_only_member.check,
    repeated_instance_group.check,
    training_plan_with_spot.check,
    volume_key_alias.check,
    volume_key_on_hosts_with_local_storage.check,
    volume_on_hosts_with_local_storage.check,
    warm_pool_with_instance_groups.check,
    warm_pool_with_spot.check,
    zero_hosts.check,
)
