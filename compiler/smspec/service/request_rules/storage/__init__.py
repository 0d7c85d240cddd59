"""Where a job writes: OutputDataConfig, CheckpointConfig, TensorBoardOutputConfig."""

from __future__ import annotations

from smspec.service.request_rules.rule import Check

RULES: tuple[Check, ...] = ()
