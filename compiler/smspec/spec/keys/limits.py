"""Keys of the limits in time and cost: `stopping`, `spot`, and `retries`."""

from __future__ import annotations

from smspec.spec import model
from smspec.spec.keys.row import ANYONE, AZURE, KUBERNETES, SDK, SKYPILOT, Row
from smspec.spec.keys.value_forms import DURATION, NUMBER, Structure

ROWS: tuple[Row, ...] = (
    Row(
        "stopping",
        Structure(model.Stopping),
        "StoppingCondition",
        kind="cost",
        called="limits",
        group="limits",
        irregular=True,
        words={AZURE: "limits", KUBERNETES: "runPolicy"},
    ),
    Row(
        "stopping.max_runtime",
        DURATION,
        "StoppingCondition.MaxRuntimeInSeconds",
        kind="cost",
        called="longest run time, in seconds",
        words={SDK: "max_run train_max_run", AZURE: "timeout", KUBERNETES: "activeDeadlineSeconds"},
    ),
    Row(
        "stopping.max_pending",
        DURATION,
        "StoppingCondition.MaxPendingTimeInSeconds",
        kind="hosts",
        called="longest wait for hosts, in seconds",
    ),
    Row(
        "spot",
        Structure(model.Spot),
        "EnableManagedSpotTraining",
        kind="cost",
        called="managed spot",
        group="limits",
        irregular=True,
        words={
            SDK: "use_spot_instances train_use_spot_instances",
            SKYPILOT: "use_spot",
            AZURE: "queue_settings job_tier",
        },
    ),
    Row(
        "spot.max_wait",
        DURATION,
        "StoppingCondition.MaxWaitTimeInSeconds",
        kind="cost",
        called="longest wait with spot, in seconds",
        words={SDK: "max_wait train_max_wait"},
    ),
    Row(
        "retries",
        NUMBER,
        "RetryStrategy.MaximumRetryAttempts",
        kind="cost",
        called="retries",
        group="limits",
        words={
            SDK: "max_retry_attempts",
            SKYPILOT: "spot_recovery job_recovery max_restarts_on_errors",
            AZURE: "retry_settings",
            KUBERNETES: "backoffLimit restartPolicy",
            ANYONE: "retry",
        },
    ),
)
