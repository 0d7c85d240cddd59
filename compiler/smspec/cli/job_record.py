"""A training job in SageMaker as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from smspec.cli.job_lines import moment
from smspec.service.failure_causes import failure_cause
from smspec.submission.training_job import TrainingJob


def job_record(job: TrainingJob) -> dict[str, object]:
    """Return a job as JSON: times are ISO 8601 in UTC, durations seconds."""
    cause = None if job.is_completed else failure_cause(job.reason, job.secondary)
    return {
        "name": job.name,
        "region": job.region,
        "status": job.status,
        "secondary_status": job.secondary,
        "created": moment(job.created),
        "training_started": job.began and moment(job.began),
        "training_ended": job.ended and moment(job.ended),
        "billable_seconds": job.billable,
        "failure_reason": job.reason or None,
        "exit_status": job.exit_code,
        "likely_cause": cause and cause.cause,
        "what_to_do": cause and cause.fix,
        "model": job.model or None,
        # JSON has no NaN, which a metric may be.
        "metrics": {name: value if isfinite(value) else None for name, value in metrics(job)},
    }


def metrics(job: TrainingJob) -> Iterator[tuple[str, float]]:
    for metric in job.answer.get("FinalMetricDataList", ()):
        if isinstance(metric.get("Value"), (int, float)) and "MetricName" in metric:
            yield str(metric["MetricName"]), float(metric["Value"])
