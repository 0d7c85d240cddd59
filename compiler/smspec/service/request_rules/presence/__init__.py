"""What every request has to have."""

from __future__ import annotations

from smspec.service.request_rules.presence import (
    job_without_algorithm,
    job_without_hosts,
    job_without_stopping_condition,
    marketplace_algorithm_without_isolation,
)
from smspec.service.request_rules.rule import Check

RULES: tuple[Check, ...] = (
    job_without_algorithm.check,
    job_without_hosts.check,
    job_without_stopping_condition.check,
    marketplace_algorithm_without_isolation.check,
)
