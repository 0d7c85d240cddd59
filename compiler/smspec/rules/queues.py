"""Rules about the job queue of AWS Batch that starts a job, `queue`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.quoting import quoted
from smspec.service.arns import parsed_arn
from smspec.source.frozen import dataclass
from smspec.spec.model import Queue

_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
_QUEUE = re.compile(rf"{_NAME.pattern}|arn:aws[a-z-]*:batch:[a-z0-9-]+:[0-9]{{12}}:job-queue/{_NAME.pattern}")
_LONGEST_SHARE = 255
_HIGHEST = 2**31 - 1
_RANGES = {"priority": (0, 9999), "attempts": (1, 10), "preemptions": (0, _HIGHEST), "timeout": (1, _HIGHEST)}
"""The ranges of numbers (API reference of AWS Batch); its model has 32 bits for each."""

LARGEST_PAYLOAD, LARGEST_REQUEST = 10 * 1024, 30 * 1024
"""Bytes that SubmitServiceJob accepts (user guide of AWS Batch, "Service quotas")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedJob:
    """``region`` and ``account``: of the job, empty if unknown. ``alternatives``: how many sets of hosts it has.

    ``payload`` and ``request``: the bytes of the largest request that the queue gets, and of what it passes on.
    """

    queue: Queue
    region: str
    account: str
    alternatives: int
    payload: int
    request: int


def is_queue(name: str) -> bool:
    """Return whether this can be the name or the ARN of a job queue (API reference, CreateJobQueue)."""
    return _QUEUE.fullmatch(name) is not None


INVALID_QUEUE_SETTING = Rule("SM827", "invalid queue setting", evidence="api-doc")


def invalid_queue_setting(job: QueuedJob) -> Iterator[Finding]:
    """Reject a name or a number that AWS Batch does not accept.

    Names have up to 128 characters, and each number has a range.
    """
    queue = job.queue
    if not is_queue(queue.name):
        yield INVALID_QUEUE_SETTING.at(
            ("queue", "name"),
            f"`queue.name`: {quoted(queue.name)} is not the name or the ARN of a job queue",
            help="use up to 128 letters, digits, hyphens, and underscores, or the ARN of the queue",
        )
    for name, (least, most) in _RANGES.items():
        value = getattr(queue, name)
        if value is not None and not least <= value <= most:
            limit = f"minimum is {least}" if value < least else f"maximum is {most}"
            help = f"use {least} or more" if most == _HIGHEST else f"use a number from {least} to {most}"
            yield INVALID_QUEUE_SETTING.at(("queue", name), f"{HERE} is {value}; the {limit}", help=help)
    for name in ("share", "quota_share"):
        text = getattr(queue, name)
        if text is not None and not (0 < len(text) <= _LONGEST_SHARE and text.isprintable()):
            yield INVALID_QUEUE_SETTING.at(
                ("queue", name),
                f"{HERE} is not the name of a share",
                help=f"use 1 to {_LONGEST_SHARE} letters, digits, and hyphens",
            )


QUEUE_WITH_TWO_SHARES = Rule("SM828", "queue with two shares", evidence="api-doc")


def queue_with_two_shares(job: QueuedJob) -> Iterator[Finding]:
    """Reject a fair share together with a quota share.

    A queue has one scheduling policy, which decides what kind of share its jobs have.
    """
    if job.queue.share is not None and job.queue.quota_share is not None:
        yield QUEUE_WITH_TWO_SHARES.at(
            ("queue", "quota_share"),
            f"{HERE} cannot be combined with `queue.share`",
            help="remove the one that the scheduling policy of the queue does not have",
            on="key",
        )


QUEUE_WITH_ALTERNATIVES = Rule("SM829", "queue with alternatives of hosts", evidence="api-doc")


def queue_with_alternatives(job: QueuedJob) -> Iterator[Finding]:
    """Reject alternatives of hosts for a job in a queue.

    A queue waits for the instances of one request.
    """
    if job.alternatives > 1:
        yield QUEUE_WITH_ALTERNATIVES.at(
            ("queue",),
            f"{HERE} cannot be combined with `hosts.any_of`, which has {job.alternatives} alternatives",
            help="remove `hosts.any_of`, or `queue`",
            on="key",
        )


QUEUE_ELSEWHERE = Rule("SM830", "queue in a different region or account", evidence="api-doc")


def queue_elsewhere(job: QueuedJob) -> Iterator[Finding]:
    """Reject a queue whose ARN is in a different region or account than the job.

    AWS Batch creates the training job in its own region and account.
    """
    arn = parsed_arn(job.queue.name)
    if arn is None or not is_queue(job.queue.name):
        return
    for what, of_queue, of_job in (("region", arn.region, job.region), ("account", arn.account, job.account)):
        if of_job and of_queue != of_job:
            yield QUEUE_ELSEWHERE.at(
                ("queue", "name"),
                f"`queue.name` is in {what} {of_queue}, but the job is in {of_job}",
                help=f"use a queue of the {what} of the job",
            )


REQUEST_TOO_LARGE_FOR_A_QUEUE = Rule("SM831", "request too large for a queue", evidence="api-doc")


def request_too_large_for_a_queue(job: QueuedJob) -> Iterator[Finding]:
    """Reject a request above the limits of SubmitServiceJob, which are lower than those of CreateTrainingJob.

    AWS Batch accepts 10 KiB for the request of the training job, and 30 KiB with names, tags, and settings.
    """
    for what, size, limit in (
        ("the request of the job", job.payload, LARGEST_PAYLOAD),
        ("SubmitServiceJob", job.request, LARGEST_REQUEST),
    ):
        if size > limit:
            yield REQUEST_TOO_LARGE_FOR_A_QUEUE.at(
                ("queue",),
                f"with `queue`, {what} can have {limit:,} bytes, but it has {size:,}",
                help="move hyperparameters or variables to a file of the source, or remove `queue`",
                on="key",
            )
            return


RULES: tuple[Callable[[QueuedJob], Iterator[Finding]], ...] = (
    invalid_queue_setting,
    queue_with_two_shares,
    queue_with_alternatives,
    queue_elsewhere,
    request_too_large_for_a_queue,
)


def queue_findings(job: QueuedJob) -> list[Finding]:
    """Return what AWS Batch would reject of a job in a queue."""
    return [finding for rule in RULES for finding in rule(job)]
