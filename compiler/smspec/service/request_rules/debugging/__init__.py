"""The debugger and the profiler."""

from __future__ import annotations

from smspec.service.request_rules.debugging import (
    debug_rules_without_a_hook,
    profiler_in_china,
    profiler_on_trainium,
    profiler_rules_with_the_profiler_off,
    profiler_rules_without_a_profiler,
    repeated_collection,
    repeated_rule_configuration,
    unknown_profiling_parameter,
    unsupported_profiling_interval,
)
from smspec.service.request_rules.rule import Check

RULES: tuple[Check, ...] = (
    debug_rules_without_a_hook.check,
    profiler_in_china.check,
    profiler_on_trainium.check,
    profiler_rules_with_the_profiler_off.check,
    profiler_rules_without_a_profiler.check,
    repeated_collection.check,
    repeated_rule_configuration.check,
    unknown_profiling_parameter.check,
    unsupported_profiling_interval.check,
)
