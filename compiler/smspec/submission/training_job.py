"""A training job as SageMaker describes it: its status, times, hosts, and result; and a line of its log."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from smspec.source.frozen import dataclass

COMPLETED = "Completed"
DELETING = "Deleting"
_OVER = (COMPLETED, "Failed", "Stopped")
_EXIT_CODE = re.compile(r"^ExitCode (\d{1,3})$|\b[Ee]xit [Cc]ode: ?(\d{1,3})\b", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """A change of the secondary status. ``start``: its beginning; ``message``: what SageMaker says about it."""

    status: str
    message: str
    start: datetime

    def __str__(self) -> str:
        return f"{self.status}: {self.message}" if self.message and self.message != self.status else self.status


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """The response of DescribeTrainingJob, as ``answer``, and what smspec reads from it.

    ``status`` is TrainingJobStatus, ``secondary`` is SecondaryStatus. ``began`` and ``ended`` are those of the
    training; before it begins, only ``created`` exists. ``billable``: seconds, once SageMaker knows them.
    """

    answer: Mapping[str, Any]
    name: str
    region: str
    status: str
    secondary: str
    reason: str
    transitions: tuple[Transition, ...]
    created: datetime
    began: datetime | None
    ended: datetime | None
    billable: int | None

    @property
    def is_over(self) -> bool:
        return self.status in _OVER

    @property
    def is_alive(self) -> bool:
        """Whether the job waits for instances or has them, and nothing has ended it."""
        return not self.is_over and self.status not in ("Stopping", DELETING)

    @property
    def is_deleted(self) -> bool:
        """Whether SageMaker deletes the job: it had ended, and its name becomes free, but is not free yet."""
        return self.status == DELETING

    @property
    def is_completed(self) -> bool:
        return self.status == COMPLETED

    @property
    def limit(self) -> int | None:
        """Seconds that the job may train: MaxRuntimeInSeconds."""
        limit = self.answer.get("StoppingCondition", {}).get("MaxRuntimeInSeconds")
        return limit if isinstance(limit, int) else None

    @property
    def instances(self) -> str:
        """Return the number and type of the hosts: ``2 × ml.m5.large``."""
        config = self.answer.get("ResourceConfig", {})
        groups = config.get("InstanceGroups") or [config]
        counts = [(each.get("InstanceCount"), each.get("InstanceType")) for each in groups]
        return ", ".join(f"{count} × {kind}" for count, kind in counts if count and kind)

    @property
    def model(self) -> str:
        """The URI of model.tar.gz; empty without one."""
        return str(self.answer.get("ModelArtifacts", {}).get("S3ModelArtifacts", ""))

    @property
    def hosts(self) -> int:
        """The number of hosts; 0 if SageMaker does not say."""
        config = self.answer.get("ResourceConfig", {})
        groups = config.get("InstanceGroups") or [config]
        return sum(each.get("InstanceCount", 0) for each in groups)

    @property
    def result_prefix(self) -> str:
        """The URI, with a slash at its end, below which the job writes model and output; empty without one.

        S3ModelArtifacts is that of model.tar.gz, or of the prefix of an uncompressed model; a job that failed has none.
        """
        if self.model:
            return self.model.rstrip("/").rpartition("/")[0] + "/"
        path = str(self.answer.get("OutputDataConfig", {}).get("S3OutputPath", ""))
        return f"{path.rstrip('/')}/{self.name}/output/" if path else ""

    @property
    def exit_code(self) -> int | None:
        """The exit status of the script, as its failure reason names it; None if it does not."""
        found = _EXIT_CODE.search(self.reason)
        return int(found[1] or found[2]) if found else None

    def seconds(self, now: datetime) -> float:
        """Return how long the job has trained; before it begins, how long it has been waiting."""
        start = self.began or self.created
        return max(0.0, ((self.ended or now) - start).total_seconds())


def training_job(answer: Mapping[str, Any]) -> TrainingJob:
    """Return the job of a response, whose members have the types of the API model."""
    transitions = (
        Transition(status=each["Status"], message=each.get("StatusMessage", ""), start=_utc(each["StartTime"]))
        for each in answer.get("SecondaryStatusTransitions", ())
        if "Status" in each and "StartTime" in each
    )
    return TrainingJob(
        answer=answer,
        name=answer["TrainingJobName"],
        region=answer["TrainingJobArn"].split(":")[3] if answer["TrainingJobArn"].count(":") >= 5 else "",
        status=answer.get("TrainingJobStatus", ""),
        secondary=answer.get("SecondaryStatus", ""),
        reason=answer.get("FailureReason", ""),
        transitions=tuple(sorted(transitions, key=lambda each: each.start)),
        created=_utc(answer["CreationTime"]),
        began=_time(answer, "TrainingStartTime"),
        ended=_time(answer, "TrainingEndTime"),
        billable=answer.get("BillableTimeInSeconds"),
    )


def _time(answer: Mapping[str, Any], member: str) -> datetime | None:
    return _utc(answer[member]) if member in answer else None


def _utc(time: datetime) -> datetime:
    return time.astimezone(timezone.utc)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEvent:
    """``time``: milliseconds since 1970, when the host wrote it; ``host``: such as ``algo-1``."""

    time: int
    host: str
    text: str
