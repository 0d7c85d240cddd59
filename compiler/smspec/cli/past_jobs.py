"""What ran: a job in SageMaker, or a local run, as one value, and what changed since the one before it.

SageMaker's descriptions and the summaries of runs may have been written by anybody, so members may be missing or of a
wrong type, and a metric may be NaN.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from math import isfinite

from smspec.cli.submission import COMMIT_TAG, DIRTY_TAG, RUN_ID_TAG
from smspec.diagnostics.quoting import masked
from smspec.importer.imported import RequestNotFound
from smspec.importer.sources import imported
from smspec.local.record.past_runs import PastRun
from smspec.plan import RequestPlan
from smspec.review.change import Change, has_values, safe, safe_change, shown_values
from smspec.review.job_review import compared
from smspec.review.kinds.security import SECURITY
from smspec.review.request_differences import spec_keys
from smspec.review.version import version_of_request
from smspec.service.cost_ceiling import ceiling_of, cost_of
from smspec.service.failures import Diagnosis, JobFailure, diagnose, failure_of
from smspec.service.job_costs import PriceBook, instance_counts, two_decimals
from smspec.service.shapes import is_real, items, member, structure
from smspec.source import dotted
from smspec.source.frozen import dataclass, replace

LOCAL = "local"
"""The place of a run on this machine; of a job, the place is its region."""

COMPLETED, FAILED = "Completed", "Failed"
ENDED = (COMPLETED, FAILED, "Stopped")
UNFINISHED = "not finished"
"""The status of a run without a result: it goes on, or was killed."""

_NAME = re.compile(r"(?P<spec>.+)-[0-9a-f]{10}(?:-[0-9]{1,4})?")
_ATTEMPT = re.compile(r"AWSBatch(?P<spec>.+)-[0-9a-f]{10}(?:-[0-9]{1,4})?[0-9a-f]{32}")
_CUT_ATTEMPT = re.compile(r"(?=.{63}$)AWSBatch(?P<spec>.+)-[0-9a-f]{32,41}")
"""The name that AWS Batch makes of that of a job in a queue: 32 digits follow it, for which a long one may be cut."""

_NOT_FINITE = ("NaN", "Infinity", "-Infinity")
"""How the JSON protocol of AWS writes numbers that JSON lacks."""

_LONGEST_SECONDS = 10**9
_LONGEST_REASON = 1024
_MOST_METRICS = 100
_BOOKKEEPING = ("cost", "job", "cosmetic", "restart", "resume")
"""Kinds of changes that follow from others, or are part of every new job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Billing:
    """What all instances of a job together were billed, ``hours`` and ``usd``, and its ceiling; None if unknown."""

    hours: float | None = None
    most_hours: float | None = None
    usd: float | None = None
    most_usd: float | None = None

    def __str__(self) -> str:
        """Return both in dollars, or else in instance hours; empty if nothing is known."""
        if self.usd is not None or (self.most_usd is not None and self.hours is None):
            return _of_most(self.usd, self.most_usd, lambda number: f"${number:,.2f}")
        last = self.hours if self.most_hours is None else self.most_hours
        unit = "" if last is None else f" instance {'hour' if last == 1 else 'hours'}"
        return _of_most(self.hours, self.most_hours, two_decimals) + unit


@dataclass(frozen=True, slots=True, kw_only=True)
class PastJob:
    """``spec``: the name of its spec; ``place``: its region, or `LOCAL`; ``directory``: that of a local run.

    ``seconds``: how long it has trained, or been running; ``billed``: the seconds that SageMaker bills. ``tags``: those
    of the team. ``request``: of CreateTrainingJob, as far as it is known.
    """

    name: str
    spec: str
    place: str
    directory: str = ""
    created: datetime | None = None
    status: str = ""
    secondary: str = ""
    reason: str = ""
    seconds: float | None = None
    billed: float | None = None
    cost: Billing = Billing()
    metrics: tuple[tuple[str, float], ...] = ()
    commit: str = ""
    is_dirty: bool = False
    run_id: str = ""
    diagnosis: Diagnosis | None = None
    hosts: str = ""
    tags: Mapping[str, str]
    request: Mapping[str, object]

    @property
    def is_over(self) -> bool:
        return self.status in ENDED

    @property
    def state(self) -> str:
        """The status, with the secondary one of a job that goes on."""
        is_enough = self.is_over or self.secondary in ("", self.status)
        return self.status if is_enough else f"{self.status}, {self.secondary}"

    @property
    def cause(self) -> str:
        """The name of the likely cause of a failure; empty without one."""
        return self.diagnosis.cause.name if self.diagnosis and self.diagnosis.cause else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A job, and the ``changes`` since the one before it; None without one, or if a request is unknown."""

    job: PastJob
    changes: tuple[Change, ...] | None = None


def _of_most(amount: float | None, most: float | None, text: Callable[[float], str]) -> str:
    ceiling = "" if most is None else f"at most {text(most)}"
    return " of ".join(filter(None, ("" if amount is None else text(amount), ceiling)))


def spec_of(name: str) -> str:
    """Return the name of the spec of a job: without the digest, and the number of a repetition or an attempt."""
    found = _ATTEMPT.fullmatch(name) or _CUT_ATTEMPT.fullmatch(name) or _NAME.fullmatch(name)
    return found["spec"] if found else name


def job_of_description(answer: Mapping[str, object], prices: PriceBook, tags: Mapping[str, str]) -> PastJob:
    """Return the job of a response of DescribeTrainingJob or Search."""
    name, status = _text(answer, "TrainingJobName"), _text(answer, "TrainingJobStatus")
    request, region = _request(answer)
    with_hosts = {**request, "ResourceConfig": structure(dict(answer), "ResourceConfig")}
    began, ended, created = (_moment(answer, each) for each in ("TrainingStartTime", "TrainingEndTime", "CreationTime"))
    until = ended or (datetime.now(timezone.utc) if status not in ENDED else None)
    billed = _seconds(answer.get("BillableTimeInSeconds"))
    is_failed = status in ENDED and status != COMPLETED
    return PastJob(
        name=name,
        spec=spec_of(name),
        place=region,
        created=created,
        status=status or "unknown",
        secondary=_text(answer, "SecondaryStatus"),
        reason=_text(answer, "FailureReason")[:_LONGEST_REASON],
        seconds=max(0.0, (until - began).total_seconds()) if began and until else None,
        billed=billed,
        hosts=_hosts(with_hosts),
        cost=_cost(with_hosts, billed, prices, region),
        metrics=tuple(_final_metrics(answer)),
        commit=tags.get(COMMIT_TAG, ""),
        is_dirty=tags.get(DIRTY_TAG) == "true",
        run_id=tags.get(RUN_ID_TAG, ""),
        diagnosis=diagnose(failure_of(answer)) if is_failed else None,
        tags={key: value for key, value in tags.items() if not key.startswith("smspec:")},
        request=request,
    )


def _request(answer: Mapping[str, object]) -> tuple[dict[str, object], str]:
    try:
        found = imported(dict(answer))
    except RequestNotFound:
        return {}, ""
    return found.request, found.region or ""


def job_of_run(run: PastRun) -> PastJob:
    """Return a local run."""
    summary = run.summary
    request = structure(summary, "request")
    name, spec = _text(summary, "job") or spec_of(run.job), spec_of(run.job)
    created = _started(summary) or datetime.fromtimestamp(max(0.0, min(run.modified, 4e9)), timezone.utc)
    status = _text(summary, "status") if summary else UNFINISHED
    reason = _text(summary, "failure_reason")[:_LONGEST_REASON]
    failure = JobFailure(reason=reason, request=request)
    return PastJob(
        name=name or run.directory,
        spec=spec or name,
        place=LOCAL,
        directory=run.directory,
        created=created,
        status=status or "unknown",
        reason=reason,
        seconds=_seconds(summary.get("seconds")),
        metrics=tuple(_last_values(summary)),
        commit=_text(summary, "git_commit"),
        is_dirty=summary.get("git_dirty") is True,
        diagnosis=diagnose(failure) if status == FAILED else None,
        tags={},
        request=request,
        hosts=_hosts(request),
    )


def _hosts(request: dict[str, object]) -> str:
    return " + ".join(f"{number} × {kind}" for kind, number in instance_counts(request).items())


def _cost(request: dict[str, object], billed: float | None, prices: PriceBook, region: str) -> Billing:
    ceiling = ceiling_of(request, prices, region or None)
    count = sum(instance_counts(request).values())
    usd = None if billed is None else cost_of(request, billed, prices, region or None)
    return Billing(
        hours=None if billed is None or not count else billed * count / 3600,
        most_hours=None if ceiling is None else float(ceiling.total),
        usd=None if usd is None else float(usd),
        most_usd=None if ceiling is None or ceiling.usd is None else float(ceiling.usd),
    )


def _final_metrics(answer: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    for each in items(answer, "FinalMetricDataList")[:_MOST_METRICS]:
        name, value = member(each, "MetricName"), member(each, "Value")
        if isinstance(name, str) and (is_real(value) or (isinstance(value, str) and value in _NOT_FINITE)):
            yield name, float(value)


def _last_values(summary: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    for each in items(summary, "metrics")[:_MOST_METRICS]:
        name, last = member(each, "name"), member(each, "last")
        try:
            value = float(str(last)[:40])
        except ValueError:
            continue
        if isinstance(name, str):
            yield name, value


def _text(mapping: Mapping[str, object], name: str) -> str:
    value = mapping.get(name)
    return value if isinstance(value, str) else ""


def _moment(answer: Mapping[str, object], name: str) -> datetime | None:
    value = answer.get(name)
    return value.astimezone(timezone.utc) if isinstance(value, datetime) else None


def _started(summary: Mapping[str, object]) -> datetime | None:
    try:
        return datetime.strptime(_text(summary, "started"), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return None


def _seconds(value: object) -> float | None:
    return float(value) if is_real(value) and 0 <= value <= _LONGEST_SECONDS else None


def changes_between(old: PastJob, new: PastJob) -> tuple[Change, ...] | None:
    """Return what differs between the requests of two jobs, by the keys of a spec; None if one is unknown.

    Tags differ with each commit, and prices do not matter here.
    """
    if not old.request or not new.request:
        return None
    if old.request == new.request:
        return ()
    versions = []
    is_local = LOCAL in (old.place, new.place)
    for job in (old, new):
        region = None if is_local else job.place
        version = version_of_request(dict(job.request), region, None, is_whole=False)
        origins = spec_keys(version.payload)
        versions.append(replace(version, request=RequestPlan(payload=version.payload, origins=origins)))
    changes = compared(versions[0], versions[1], PriceBook())
    found = [each for each in changes if each.kind not in _BOOKKEEPING]
    other = {each.path for each in found if each.kind != SECURITY.name}
    # What a change of a key means for access is said once.
    return tuple(safe_change(each) for each in found if each.kind != SECURITY.name or each.path not in other)


def change_text(change: Change) -> str:
    """Return a change in a line: the key, and both values."""
    key = dotted(change.path) if change.path else change.what
    if not has_values(change):
        return key if key == change.what else f"{key}: {change.what}"
    old, new = shown_values(change)
    return f"{key} {old} → {new}"


def changes_as_json(changes: Sequence[Change] | None) -> list[dict[str, object]] | None:
    """Return changes as JSON; null if they are unknown."""
    if changes is None:
        return None
    return [
        {"kind": each.kind, "key": dotted(each.path), "what": each.what, "old": each.old, "new": each.new}
        for each in changes
    ]


def job_as_json(job: PastJob) -> dict[str, object]:
    """Return a job as JSON: times are ISO 8601 in UTC, durations seconds, a metric that is not finite is null."""
    cause = job.diagnosis and job.diagnosis.cause
    return {
        "name": job.name,
        "spec": job.spec,
        "place": job.place,
        "directory": job.directory or None,
        "created": job.created and moment_text(job.created),
        "status": job.status,
        "secondary_status": job.secondary or None,
        "seconds": job.seconds,
        "billed_seconds": job.billed,
        "instance_hours": job.cost.hours,
        "ceiling_instance_hours": job.cost.most_hours,
        "usd": job.cost.usd,
        "ceiling_usd": job.cost.most_usd,
        "metrics": {name: value if isfinite(value) else None for name, value in job.metrics},
        "git_commit": job.commit or None,
        "git_dirty": job.is_dirty if job.commit else None,
        "run_id": job.run_id or None,
        "failure_reason": masked(job.reason) or None,
        "cause": cause.name if cause else None,
        "likely_cause": cause.cause if cause else None,
        "tags": {key: safe(key, value) for key, value in job.tags.items()},
    }


def moment_text(time: datetime) -> str:
    """Return a time in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
