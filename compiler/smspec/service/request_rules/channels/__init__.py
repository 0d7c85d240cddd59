"""InputDataConfig: the channels and what they read."""

from __future__ import annotations

from smspec.service.request_rules.channels import (
    attributes_without_augmented_manifest,
    augmented_manifest_without_attributes,
    channel_without_one_data_source,
    repeated_channel,
    unknown_instance_group,
)
from smspec.service.request_rules.rule import Check

RULES: tuple[Check, ...] = (
    attributes_without_augmented_manifest.check,
    augmented_manifest_without_attributes.check,
    channel_without_one_data_source.check,
    repeated_channel.check,
    unknown_instance_group.check,
)
