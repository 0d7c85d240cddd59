"""AlgorithmSpecification: the image, its command and its metrics."""

from __future__ import annotations

from smspec.service.request_rules.algorithm import (
    command_in_an_unknown_channel,
    image_beside_algorithm_name,
    image_outside_ecr_without_vpc_access,
    image_without_a_full_reference,
    metric_that_no_engine_reads,
    metric_without_a_group,
    metrics_of_a_built_in_algorithm,
    mutable_image_reference,
    neither_image_nor_algorithm_name,
    program_without_file_mode,
    registry_credentials_without_vpc_access,
    repeated_metric,
    sharded_program,
    time_series_switched_off_in_vain,
    vpc_access_to_ecr,
    vpc_access_without_vpc,
)
from smspec.service.request_rules.rule import Check

RULES: tuple[Check, ...] = (
    command_in_an_unknown_channel.check,
    image_beside_algorithm_name.check,
    image_outside_ecr_without_vpc_access.check,
    image_without_a_full_reference.check,
    metric_that_no_engine_reads.check,
    metric_without_a_group.check,
    metrics_of_a_built_in_algorithm.check,
    mutable_image_reference.check,
    neither_image_nor_algorithm_name.check,
    program_without_file_mode.check,
    registry_credentials_without_vpc_access.check,
    repeated_metric.check,
    sharded_program.check,
    time_series_switched_off_in_vain.check,
    vpc_access_to_ecr.check,
    vpc_access_without_vpc.check,
)
