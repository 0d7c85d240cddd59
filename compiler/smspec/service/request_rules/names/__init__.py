"""Tags, environment variables and experiments."""

from __future__ import annotations

from smspec.service.request_rules.names import (
    repeated_tag,
    reserved_tag,
    run_without_an_experiment,
    variable_of_the_platform,
)
from smspec.service.request_rules.rule import Check

RULES: tuple[Check, ...] = (
    repeated_tag.check,
    reserved_tag.check,
    run_without_an_experiment.check,
    variable_of_the_platform.check,
)
