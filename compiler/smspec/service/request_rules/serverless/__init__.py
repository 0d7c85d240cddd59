"""ServerlessJobConfig and ModelPackageConfig."""

from __future__ import annotations

from smspec.service.request_rules.rule import Check
from smspec.service.request_rules.serverless import (
    declined_licence,
    evaluation_without_a_type,
    fine_tuning_without_a_technique,
    member_beside_a_serverless_job,
    member_of_another_kind_of_serverless_job,
    model_package_without_a_serverless_job,
    volume_of_a_serverless_job,
)

RULES: tuple[Check, ...] = (
    declined_licence.check,
    evaluation_without_a_type.check,
    fine_tuning_without_a_technique.check,
    member_beside_a_serverless_job.check,
    member_of_another_kind_of_serverless_job.check,
    model_package_without_a_serverless_job.check,
    volume_of_a_serverless_job.check,
)
