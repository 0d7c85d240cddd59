"""Places that have to agree: regions and partitions of ARNs and images."""

from __future__ import annotations

from smspec.service.request_rules.rule import Check

RULES: tuple[Check, ...] = ()
