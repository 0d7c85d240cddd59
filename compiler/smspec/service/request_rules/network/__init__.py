"""VpcConfig, network isolation and encryption between the hosts."""

from __future__ import annotations

from smspec.service.request_rules.rule import Check

RULES: tuple[Check, ...] = ()
