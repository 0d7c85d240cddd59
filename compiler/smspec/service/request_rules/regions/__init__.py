"""Places that have to agree: regions and partitions of ARNs and images."""

from __future__ import annotations

from smspec.service.request_rules.regions import (
    arn_of_another_partition,
    arn_of_another_region,
    image_of_another_region,
)
from smspec.service.request_rules.rule import Check

RULES: tuple[Check, ...] = (
    arn_of_another_partition.check,
    arn_of_another_region.check,
    image_of_another_region.check,
)
