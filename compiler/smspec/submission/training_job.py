"""A job as SageMaker describes it: its status, times, hosts, and result; its place in a queue; a line of its log.

What follows a submitted job reads a `TrainingJob`, whether SageMaker created it at once, or AWS Batch creates training
jobs for it: then ``queued`` is the service job, and the rest is that of its latest attempt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any

from smspec.service.shapes import Shape, pinned_model
from smspec.source.frozen import dataclass, field

COMPLETED = "Completed"
DELETING = "Deleting"
_OVER = (COMPLETED, "Failed", "Stopped")
_TYPES = {"structure": dict, "list": list, "map": dict, "string": str, "integer": int, "long": int, "boolean": bool}
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
class QueueAttempt:
    """A training job that AWS Batch has created for a service job."""

    name: str
    started: datetime | None = None
    stopped: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceJob:
    """A service job of AWS Batch. ``payload``: the request of its training jobs; ``share``: of either kind.

    ``place``: among the first jobs of the queue, from 1; None if it is not there, or unknown.
    """

    arn: str
    name: str
    queue: str
    status: str
    reason: str
    is_waiting: bool
    is_terminated: bool
    created: datetime
    stopped: datetime | None
    payload: Mapping[str, Any]
    attempts: tuple[QueueAttempt, ...] = ()
    share: str = ""
    priority: int | None = None
    most_attempts: int | None = None
    place: int | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return self.status in ("SUCCEEDED", "FAILED")

    @property
    def where(self) -> str:
        """Where the job waits: ``place 3 in the queue `training`, share ads, priority 10``."""
        place = f"place {self.place} in" if self.place is not None else "in"
        share = f", share {self.share}" if self.share else ""
        priority = f", priority {self.priority}" if self.priority is not None else ""
        return f"{place} the queue `{self.queue}`{share}{priority}"

    @property
    def record(self) -> dict[str, object]:
        """The job as JSON."""
        return {
            "queue": self.queue,
            "status": self.status,
            "place": self.place,
            "share": self.share or None,
            "priority": self.priority,
            "attempts": [{"training_job": each.name, "reason": each.reason or None} for each in self.attempts],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """The response of DescribeTrainingJob, as ``answer``, and what smspec reads from it.

    ``queued``: the service job whose training job this is, or that has none yet; its name is that of the job.

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
    queued: ServiceJob | None = None

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
        return f"{path.rstrip('/')}/{self.answer['TrainingJobName']}/output/" if path else ""

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


def as_training_job(queued: ServiceJob, training: TrainingJob | None) -> TrainingJob:
    """Return the job of a queue: what SageMaker knows of its latest attempt, and its end as AWS Batch knows it.

    An attempt that has failed is not the end of the job, while the queue may start it again.
    """
    status, secondary = "InProgress", queued.status
    if queued.is_over:
        is_stopped = queued.is_terminated or (training is not None and training.status == "Stopped")
        status = COMPLETED if queued.status == "SUCCEEDED" else "Stopped" if is_stopped else "Failed"
        secondary = training.secondary if training is not None and training.status == status else status
    elif queued.is_terminated:
        status, secondary = "Stopping", "Stopping"
    elif training is not None and not queued.is_waiting and not training.is_over:
        secondary = training.secondary
    reason = queued.reason if status in ("Failed", "Stopped") else ""
    answer = {**_sendable(queued.payload), "TrainingJobName": queued.name, "TrainingJobArn": queued.arn}
    if training is not None:
        answer |= training.answer
        reason = (training.reason or reason) if reason else ""
    is_present = training is not None and not queued.is_waiting
    return TrainingJob(
        answer={**answer, "TrainingJobStatus": status, "SecondaryStatus": secondary, "FailureReason": reason},
        name=queued.name,
        region=queued.arn.split(":")[3] if queued.arn.count(":") >= 5 else "",
        status=status,
        secondary=secondary,
        reason=reason,
        transitions=tuple(sorted(_transitions(queued, training), key=lambda each: each.start)),
        created=queued.created,
        began=training.began if training is not None and is_present else None,
        ended=training.ended if training is not None and is_present else queued.stopped,
        billable=training.billable if training is not None and is_present else None,
        queued=queued,
    )


def _sendable(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return what CreateTrainingJob could take of a request: AWS Batch accepts each one that is JSON."""
    model = pinned_model()

    def known(value: Any, shape: Shape) -> Any:
        """Return the part of a value that has the form of a shape; None if that is nothing."""
        if shape.kind == "any":
            return value
        if not isinstance(value, _TYPES[shape.kind]) or isinstance(value, bool) is not (shape.kind == "boolean"):
            return None
        if isinstance(value, dict):
            shapes = {name: shape.members.get(name) if shape.kind == "structure" else shape.item for name in value}
            found = {name: known(value[name], model.shapes[inner]) for name, inner in shapes.items() if inner}
            return {name: each for name, each in found.items() if each is not None}
        if isinstance(value, list):
            return [each for one in value if (each := known(one, model.shapes[shape.item])) is not None]
        return value

    return known(dict(payload), model.root) or {}


def _transitions(queued: ServiceJob, training: TrainingJob | None) -> Iterator[Transition]:
    """Yield what has happened to a job in its queue, and to its latest attempt in SageMaker.

    The time of an attempt is that at which the job waited for it: what was yielded before stays the same.
    """
    last = queued.created
    for number, each in enumerate(queued.attempts, 1):
        of = f" of {queued.most_attempts}" if queued.most_attempts else ""
        yield Transition(status=f"attempt {number}{of}", message=f"training job {each.name}", start=last)
        last = each.stopped or last
        if number < len(queued.attempts) or queued.is_waiting:
            yield Transition(status=f"attempt {number} ended", message=each.reason, start=last)
    if training is not None:
        yield from training.transitions
    if queued.is_waiting:
        yield Transition(status=queued.status, message=queued.where, start=last)


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
