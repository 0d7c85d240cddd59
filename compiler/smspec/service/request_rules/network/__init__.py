"""VpcConfig, network isolation and encryption between the hosts."""

from __future__ import annotations

from smspec.service.request_rules.network import (
    code_in_s3_for_an_isolated_container,
    encryption_on_a_single_host,
    isolated_container_that_needs_the_network,
    malformed_network_id,
    remote_debug_in_isolation,
    repeated_network_id,
)
from smspec.service.request_rules.rule import Check

RULES: tuple[Check, ...] = (
    code_in_s3_for_an_isolated_container.check,
    encryption_on_a_single_host.check,
    isolated_container_that_needs_the_network.check,
    malformed_network_id.check,
    remote_debug_in_isolation.check,
    repeated_network_id.check,
)
