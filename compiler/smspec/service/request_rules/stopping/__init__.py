"""StoppingCondition and managed spot training."""

from __future__ import annotations

from smspec.service.request_rules.rule import Check
from smspec.service.request_rules.stopping import (
    long_wait_of_an_algorithm_without_checkpoints,
    max_runtime_above_the_default_quota,
    max_wait_below_max_runtime,
    max_wait_without_spot,
    overlong_max_runtime,
    spot_without_checkpoints,
    spot_without_max_wait,
)

RULES: tuple[Check, ...] = (
    long_wait_of_an_algorithm_without_checkpoints.check,
    max_runtime_above_the_default_quota.check,
    max_wait_below_max_runtime.check,
    max_wait_without_spot.check,
    overlong_max_runtime.check,
    spot_without_checkpoints.check,
    spot_without_max_wait.check,
)
