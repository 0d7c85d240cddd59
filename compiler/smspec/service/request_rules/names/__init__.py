"""Tags, environment variables and experiments."""

from __future__ import annotations

from smspec.service.request_rules.names import (
    repeated_tag,
)
from smspec.service.request_rules.rule import Check

RULES: tuple[Check, ...] = (repeated_tag.check,)
