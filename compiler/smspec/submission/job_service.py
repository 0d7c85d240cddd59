"""The calls for jobs that exist: describe and stop a job, read its logs."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any

from smspec.service.shapes import items, member
from smspec.source.frozen import dataclass
from smspec.submission.client import (
    ANSWER_SECONDS,
    THROTTLED,
    AwsUnavailable,
    InvalidCredentials,
    JobRefused,
    account_fault,
    answered,
    asked,
    caller_of,
    described,
    tags_of,
    unavailable,
)
from smspec.submission.training_job import LogEvent, TrainingJob, training_job
from smspec.wire.aws import AwsRefused, AwsSession, Unsendable, is_in_aws, responses
from smspec.wire.aws_shape import keep_newer_members
from smspec.wire.exchange import shown_url
from smspec.wire.fault import WireFault

LOG_GROUP = "/aws/sagemaker/TrainingJobs"
"""The log group of all training jobs (developer guide, "CloudWatch Logs for Amazon SageMaker AI")."""

_MOST_PAGES = 1000
_MOST_LISTINGS = 100
_LINES = 1000
"""Of a page of a log. The default, 10,000, is more than a response of JSON may have parts."""
_LATEST = 253_370_764_800_000
"""Milliseconds until the year 9999, the last one that Python has in every time zone."""

_IN_USE = ("ResourceInUse", "ResourceInUseException")
_QUOTA = ("ResourceLimitExceeded", "ResourceLimitExceededException")
_NOT_FOUND = "requested resource not found"


class NameInUse(Exception):
    """A job with the name of the request exists."""


class QuotaExceeded(JobRefused):
    """The account has no quota left for the hosts of a job, or the region does not have them."""


class Throttled(AwsUnavailable):
    """AWS gets too many requests now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedJob:
    """A job in the listing of SageMaker, which contains neither its request nor its tags."""

    name: str
    arn: str
    created: datetime
    status: str


class JobService:
    """SageMaker and CloudWatch Logs in one region, as the AWS CLI would call them."""

    def __init__(self, profile: str | None, region: str | None) -> None:
        self._profile, self._region = profile, region
        self._account = ""
        self.requested = ""
        """The name of the last job whose creation AWS has not refused: it may exist, and cost."""
        self.renew()

    def renew(self) -> None:
        """Read the credentials again: a login in another window has replaced them.

        Raise `AwsUnavailable`, also if the new ones are not of the account of `require_account`.
        """
        with asked("SageMaker"):
            session = AwsSession(self._profile, self._region)
            self._sagemaker = session.client("sagemaker")
            keep_newer_members(self._sagemaker, sent="CreateTrainingJob", shown="DescribeTrainingJob")
            self._logs = session.client("logs")
            self.endpoint = shown_url(str(self._sagemaker.meta.endpoint_url))
            self._is_in_aws = is_in_aws(self._sagemaker)
        if self._account:
            self._check_account(self._account)

    def require_account(self, account: str) -> None:
        """Require that the credentials belong to an account after each `renew`, as those before it do.

        The credentials decide where a job is created, and a request does not contain its account.
        """
        self._account = account

    def _check_account(self, account: str) -> None:
        """Raise `AwsUnavailable` for credentials of another account.

        If STS cannot be called, SageMaker decides: it rejects a role of a different account.
        """
        try:
            caller = caller_of(self._profile, self._region)
        except InvalidCredentials:
            raise
        except (AwsUnavailable, JobRefused):
            return
        fault = account_fault(caller, account)
        if fault:
            raise AwsUnavailable(fault)

    @property
    def profile(self) -> str | None:
        """The profile that was named explicitly; None for that of the environment."""
        return self._profile

    @property
    def is_in_aws(self) -> bool:
        """Whether calls to SageMaker go to AWS itself; False for an endpoint of the user, such as an emulator."""
        return self._is_in_aws

    @property
    def region(self) -> str:
        return str(self._sagemaker.meta.region_name)

    def describe(self, name: str, *, budget: float = ANSWER_SECONDS) -> TrainingJob:
        """Return a job. Raise `JobRefused` if it does not exist, `AwsUnavailable` if AWS cannot be called.

        ``budget``: seconds of pauses while AWS throttles the call.
        """
        try:
            answer = described(self._sagemaker, name, budget=budget)
        except JobRefused as refused:
            if _NOT_FOUND in str(refused).lower():
                raise JobRefused(f"{refused}; `smspec status` shows the names of the jobs of specs") from None
            raise
        if "CreationTime" not in answer:
            raise AwsUnavailable(f"the SageMaker response does not contain when the job `{name}` was created")
        return training_job(answer)

    def find(self, name: str) -> TrainingJob | None:
        """Return a job; None if it does not exist. Raise `JobRefused`, or `AwsUnavailable`."""
        try:
            return self.describe(name)
        except JobRefused as refused:
            if _NOT_FOUND in str(refused).lower() or "could not find training job" in str(refused).lower():
                return None
            raise

    def create(self, request: Mapping[str, Any]) -> None:
        """Create a job. Raise `NameInUse`, `Throttled`, `JobRefused` for an invalid request, or `AwsUnavailable`."""
        name = str(request["TrainingJobName"])
        self.requested = name
        try:
            with responses(f"create the job `{name}` in {self.region}"):
                self._sagemaker.create_training_job(**request)
        except Unsendable as fault:
            self.requested = ""
            raise JobRefused(f"the job `{name}`: {fault}") from None
        except AwsRefused as refusal:
            self.requested = ""
            raise self._refused(name, refusal) from None
        except WireFault as fault:
            raise AwsUnavailable(str(fault)) from None

    def _refused(self, name: str, refusal: AwsRefused) -> Exception:
        if refusal.code in _IN_USE:
            return NameInUse(name)
        if refusal.code in THROTTLED:
            return Throttled(f"AWS throttles CreateTrainingJob in {self.region}; submit the job again later")
        if refusal.code in _QUOTA:
            return QuotaExceeded(f"AWS rejects the job `{name}` in {self.region}: {refusal}")
        if refusal.code in ("ValidationException", "ResourceNotFound"):
            return JobRefused(f"AWS rejects the job `{name}` in {self.region}: {refusal}")
        # If an action is denied, AWS's sentence says whether it is that of the role, of a tag, or of the call itself.
        what = f"create the job `{name}` in {self.region}"
        return unavailable(what, refusal.code, refusal.message, "sagemaker:CreateTrainingJob")

    def named(self, part: str) -> Iterator[ListedJob]:
        """Yield the jobs whose names contain ``part``, the newest first.

        Raise `AwsUnavailable`, also if the list has no end: what it does not show may exist.
        """
        token: dict[str, Any] = {}
        tokens: set[str] = set()
        what = f"the jobs named `{part}…` in {self.region}"
        for _ in range(_MOST_LISTINGS):
            call = functools.partial(
                self._sagemaker.list_training_jobs,
                NameContains=part,
                SortBy="CreationTime",
                SortOrder="Descending",
                MaxResults=100,
                **token,
            )
            page = answered(what, "sagemaker:ListTrainingJobs", call)
            for each in page.get("TrainingJobSummaries", ()):
                if not all(member in each for member in ("TrainingJobName", "TrainingJobArn", "CreationTime")):
                    raise AwsUnavailable(f"SageMaker lists a job named `…{part}…` without its name, ARN, or time")
                yield ListedJob(
                    name=each["TrainingJobName"],
                    arn=each["TrainingJobArn"],
                    created=each["CreationTime"].astimezone(timezone.utc),
                    status=each.get("TrainingJobStatus", ""),
                )
            if not page.get("NextToken"):
                return
            token = {"NextToken": page["NextToken"]}
            if page["NextToken"] in tokens:
                raise AwsUnavailable(f"SageMaker lists {what} without an end")
            tokens.add(page["NextToken"])
        raise AwsUnavailable(
            f"SageMaker lists more than {_MOST_LISTINGS * 100:,} jobs whose names contain `{part}`, so those of the"
            " spec are not known; use a longer `name` or `job_name`, or pass the name of a job"
        )

    def tags_of_listed(self, job: ListedJob) -> dict[str, str]:
        """Return the tags of a job in a listing. Raise `JobRefused` if it is gone since, or `AwsUnavailable`."""
        return {tag["Key"]: tag["Value"] for tag in tags_of(self._sagemaker, job.name, job.arn)}

    def tags(self, job: TrainingJob) -> dict[str, str]:
        """Return the tags of a job. Raise `AwsUnavailable`."""
        tags = tags_of(self._sagemaker, job.name, job.answer["TrainingJobArn"])
        return {tag["Key"]: tag["Value"] for tag in tags}

    def has_own_tags(self, _job: TrainingJob, /) -> bool:
        """Return whether the tags of a spec are those of a job itself."""
        return True

    def add_tags(self, job: TrainingJob, tags: Mapping[str, str]) -> None:
        """Add tags to a job, or change their values. Raise `JobRefused` or `AwsUnavailable`."""
        added = [{"Key": key, "Value": value} for key, value in tags.items()]
        call = functools.partial(self._sagemaker.add_tags, ResourceArn=job.answer["TrainingJobArn"], Tags=added)
        answered(f"new tags of the job `{job.name}` in {self.region}", "sagemaker:AddTags", call)

    def key_arn(self, key: str) -> str | None:
        """Return the ARN of a KMS key that has an id, an ARN, or an alias; None if it does not exist.

        Raise `AwsUnavailable`, also if it may not be asked for.
        """
        with asked("KMS"):
            client = AwsSession(self._profile, self._region).client("kms")

        def call() -> dict[str, Any]:
            try:
                found: dict[str, Any] = client.describe_key(KeyId=key)
            except client.exceptions.NotFoundException:
                return {}
            return found

        arn = member(answered(f"a KMS key in {self.region}", "kms:DescribeKey", call), "KeyMetadata", "Arn")
        return arn if isinstance(arn, str) else None

    def algorithm_defaults(self, algorithm: str) -> dict[str, str]:
        """Return the default values of the hyperparameters of an algorithm. Raise `JobRefused`, or `AwsUnavailable`."""

        def call() -> dict[str, Any]:
            found: dict[str, Any] = self._sagemaker.describe_algorithm(AlgorithmName=algorithm)
            return found

        found = answered(f"the algorithm `{algorithm}` in {self.region}", "sagemaker:DescribeAlgorithm", call)
        defaults = {}
        for each in items(found, "TrainingSpecification", "SupportedHyperParameters"):
            name, value = member(each, "Name"), member(each, "DefaultValue")
            if isinstance(name, str) and isinstance(value, str):
                defaults[name] = value
        return defaults

    def set_priority(self, _job: TrainingJob, /) -> bool:
        """Return that nothing has changed: only a queue has priorities."""
        return False

    def stop(self, name: str) -> None:
        """Request that a job stops. Raise as `describe` does, `JobRefused` too for a job that is over."""
        call = functools.partial(self._sagemaker.stop_training_job, TrainingJobName=name)
        answered(f"the end of the job `{name}` in {self.region}", "sagemaker:StopTrainingJob", call)

    def streams(self, name: str, *, budget: float = ANSWER_SECONDS) -> list[str]:
        """Return the names of the log streams of a job: one per host, and after a restart, one more."""
        found: list[str] = []
        token: dict[str, Any] = {}
        what = f"the logs of `{name}` in {self.region}"
        for _ in range(_MOST_PAGES):
            call = functools.partial(self._page_of_streams, name, token)
            page = answered(what, "logs:DescribeLogStreams", call, budget=budget)
            found += [str(each["logStreamName"]) for each in page.get("logStreams", ()) if "logStreamName" in each]
            if not page.get("nextToken"):
                return found
            token = {"nextToken": page["nextToken"]}
        raise AwsUnavailable(f"CloudWatch Logs lists the streams of `{name}` without an end")

    def _page_of_streams(self, name: str, token: Mapping[str, Any]) -> dict[str, Any]:
        try:
            page: dict[str, Any] = self._logs.describe_log_streams(
                logGroupName=LOG_GROUP, logStreamNamePrefix=f"{name}/", **token
            )
        except self._logs.exceptions.ResourceNotFoundException:
            return {}  # the first job of an account makes the group when its log begins
        return page

    def events(
        self,
        stream: str,
        token: str | None,
        since: int | None,
        *,
        last: int | None = None,
        budget: float = ANSWER_SECONDS,
    ) -> tuple[list[LogEvent], str | None, str | None]:
        """Return the next events of a stream, oldest first, and the tokens of what is after and before them.

        At the end of a stream, its token does not change; None if the server sends none. ``since``: milliseconds since
        1970. ``last``: at most so many events, the last ones of the stream or those before a token. ``budget``: seconds
        of pauses while AWS throttles the call.
        """
        where: dict[str, Any] = {"nextToken": token} if token else {}
        if since is not None:
            where["startTime"] = since
        call = functools.partial(
            self._logs.get_log_events,
            logGroupName=LOG_GROUP,
            logStreamName=stream,
            startFromHead=last is None,
            limit=min(last or _LINES, _LINES),
            **where,
        )
        what = f"the log stream `{stream}` in {self.region}"
        page = answered(what, "logs:GetLogEvents", call, budget=budget)
        events = [
            LogEvent(time=min(max(int(each["timestamp"]), 0), _LATEST), host=host_of(stream), text=str(each["message"]))
            for each in page.get("events", ())
            if "timestamp" in each and "message" in each
        ]
        return events, page.get("nextForwardToken") or None, page.get("nextBackwardToken") or None


def host_of(stream: str) -> str:
    """Return the host of a stream: ``algo-1`` of ``JOB/algo-1-1700000000``."""
    name = stream.rpartition("/")[2]
    host, _, number = name.rpartition("-")
    return host if host and number.isdigit() else name


def stale_tags(service: JobService, job: TrainingJob, tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags that a job lacks, or has with a different value. Raise `JobRefused` or `AwsUnavailable`."""
    if not service.has_own_tags(job):
        return {}
    there = service.tags(job)
    return {key: value for key, value in tags.items() if there.get(key) != value}
