"""Where a job writes: OutputDataConfig, CheckpointConfig, TensorBoardOutputConfig."""

from __future__ import annotations

from smspec.service.request_rules.rule import Check
from smspec.service.request_rules.storage import (
    bucket_that_cannot_exist,
    checkpoints_at_the_address_of_the_output,
    checkpoints_in_a_managed_directory,
    kms_key_with_s3_express,
    relative_checkpoint_directory,
    s3_address_with_https,
)

RULES: tuple[Check, ...] = (
    bucket_that_cannot_exist.check,
    checkpoints_at_the_address_of_the_output.check,
    checkpoints_in_a_managed_directory.check,
    kms_key_with_s3_express.check,
    relative_checkpoint_directory.check,
    s3_address_with_https.check,
)
