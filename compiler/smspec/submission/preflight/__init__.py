"""What only AWS knows about a job, before anything is created: a row for each thing, ok, wrong, or not checked.

An `AwsQuestion` calls AWS and returns an `Answer`: a `CheckRow`, or several, and the questions that follow from them.
All are asked at once, within a time limit. What may not be asked, for lack of a permission, is not checked and never
wrong. A question reads and changes nothing, so it can always be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from smspec.service.facts import architecture
from smspec.service.request import Request
from smspec.source.frozen import dataclass
from smspec.spec.model import Queue
from smspec.submission.preflight.account import account_questions, queue_question
from smspec.submission.preflight.asking import AwsQuestion, PreflightCalls
from smspec.submission.preflight.buckets import bucket_questions, used_buckets
from smspec.submission.preflight.resources import image_questions, resource_questions
from smspec.submission.s3_service import RegionalS3

_PLATFORMS = {"x86_64": "linux/amd64", "arm64": "linux/arm64"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is asked about: the requests of a job, one for each alternative of its hosts, which alone differ.

    ``uploads``: URI → kind of what the submission writes. ``uploaded``: the channels whose data it writes.
    ``secrets``: variable → ARN. ``builds``: the submission, not its author, brings the image.
    ``queue``: where the job waits.
    """

    payloads: tuple[dict[str, Any], ...]
    uploads: Mapping[str, str]
    uploaded: tuple[str, ...]
    source_key: str | None
    secrets: Mapping[str, str]
    builds: bool
    queue: Queue | None = None


def questions(calls: PreflightCalls, store: RegionalS3, subject: Subject, account: str) -> list[AwsQuestion]:
    """Return the questions about a job. ``account``: of the caller, empty if unknown."""
    payload = subject.payloads[0]
    buckets = used_buckets(payload, subject.uploads, subject.uploaded)
    return [
        *([] if subject.builds else image_questions(calls, payload, _platforms(subject.payloads))),
        *bucket_questions(calls, store, buckets),
        *resource_questions(calls, subject.payloads, subject.source_key, subject.secrets, account),
        *account_questions(calls, subject.payloads, account),
        *([] if subject.queue is None else [queue_question(calls, subject.queue, payload)]),
    ]


def _platforms(payloads: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """Return the platforms of the instance types; empty if one is unknown."""
    kinds = [kind for payload in payloads for _, kind in Request(payload=payload).instance_types]
    found = [_PLATFORMS.get(architecture(kind), "") for kind in kinds]
    return tuple(dict.fromkeys(found)) if all(found) else ()
