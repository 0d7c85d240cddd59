"""What the API refuses although every member has its shape: one file a rule, named after the bad thing.

Each is one ``check`` of a whole request, in which anything may be missing or of another type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.diagnostics import Finding
from smspec.service.refusals import (
    attributes_without_augmented_manifest,
    augmented_manifest_without_attributes,
    channel_without_one_data_source,
    hosts_without_count,
    hosts_without_instance_type,
    image_beside_algorithm_name,
    instance_groups_beside_an_instance_type,
    job_without_algorithm,
    job_without_hosts,
    job_without_stopping_condition,
    neither_image_nor_algorithm_name,
    read_only_member,
    repeated_channel,
    repeated_tag,
    unknown_instance_group,
    zero_hosts,
)

REFUSALS: tuple[Callable[[dict[str, object]], Iterator[Finding]], ...] = (
    job_without_algorithm.check,
    job_without_hosts.check,
    job_without_stopping_condition.check,
    image_beside_algorithm_name.check,
    neither_image_nor_algorithm_name.check,
    instance_groups_beside_an_instance_type.check,
    hosts_without_instance_type.check,
    hosts_without_count.check,
    zero_hosts.check,
    repeated_tag.check,
    channel_without_one_data_source.check,
    augmented_manifest_without_attributes.check,
    attributes_without_augmented_manifest.check,
    unknown_instance_group.check,
    read_only_member.check,
    repeated_channel.check,
)
