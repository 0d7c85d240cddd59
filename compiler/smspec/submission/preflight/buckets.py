"""The buckets of a job: they exist, are in its region, and have the data of its channels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from smspec.render.iam.statements import location
from smspec.service.arns import parsed_arn
from smspec.service.request import S3_PREFIX, channels_in_s3
from smspec.service.shapes import items, member
from smspec.source.frozen import dataclass
from smspec.submission.client import DENIED, ActionDenied, AwsUnavailable, JobRefused
from smspec.submission.preflight.asking import (
    Answer,
    AwsQuestion,
    CheckRow,
    NotChecked,
    PreflightCalls,
    State,
    not_checked,
    ok,
    wrong,
)
from smspec.submission.s3_service import RegionalS3
from smspec.wire.aws import AwsRefused

_REGION_HEADER = "x-amz-bucket-region"
_ABSENT = ("404", "NoSuchBucket", "NotFound", "NoSuchAccessPoint")
_ELSEWHERE = ("301", "307", "PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed")
_OLD_NAMES = {"": "us-east-1", "EU": "eu-west-1"}
"""What GetBucketLocation calls two regions (API shape BucketLocationConstraint)."""

_DIRECTORY = "--x-s3"
"""How the name of a directory bucket ends."""

_MOST_USES = 5

_WRITTEN = (
    ("output", ("OutputDataConfig", "S3OutputPath")),
    ("checkpoints", ("CheckpointConfig", "S3Uri")),
    ("TensorBoard", ("TensorBoardOutputConfig", "S3OutputPath")),
    ("debugger", ("DebugHookConfig", "S3OutputPath")),
    ("profiler", ("ProfilerConfig", "S3OutputPath")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedBucket:
    """``name``: of a bucket, or the ARN of an access point. ``uses``: what it is for. ``data``: name, URI, type."""

    name: str
    uses: tuple[str, ...]
    data: tuple[tuple[str, str, str], ...]


def used_buckets(payload: Mapping[str, Any], uploads: Mapping[str, str], uploaded: Sequence[str]) -> list[UsedBucket]:
    """Return each bucket of a request once, in the order of its first use.

    ``uploads``: URI → kind of what the submission writes. ``uploaded``: channels whose data it writes too.
    """
    uses: dict[str, dict[str, None]] = {}
    data: dict[str, list[tuple[str, str, str]]] = {}
    for name, uri, kind in channels_in_s3(payload):
        if uri in uploads:
            continue
        found = location(uri)
        if found is not None:
            uses.setdefault(found.bucket, {})[name] = None
            if name not in uploaded:
                data.setdefault(found.bucket, []).append((name, uri, kind))
    for use, written in _written(payload, uploads):
        found = location(written)
        if found is not None:
            uses.setdefault(found.bucket, {})[use] = None
    return [UsedBucket(name=name, uses=tuple(of), data=tuple(data.get(name, ()))) for name, of in uses.items()]


def _written(payload: Mapping[str, Any], uploads: Mapping[str, str]) -> Iterator[tuple[str, object]]:
    for use, steps in _WRITTEN:
        yield use, member(payload, *steps)
    for rule in (*items(payload, "DebugRuleConfigurations"), *items(payload, "ProfilerRuleConfigurations")):
        yield "rules", member(rule, "S3OutputPath")
    for uri, kind in uploads.items():
        yield kind, uri


def bucket_questions(calls: PreflightCalls, store: RegionalS3, buckets: Sequence[UsedBucket]) -> Iterator[AwsQuestion]:
    """Yield a question for each bucket; those for the data in it follow, unless the job cannot reach it."""
    for bucket in buckets:
        yield AwsQuestion(
            kind="bucket",
            name=bucket.name,
            waits_for=f"S3 about `{bucket.name}`",
            ask=partial(_bucket, calls, store, bucket),
        )


def _bucket(calls: PreflightCalls, store: RegionalS3, bucket: UsedBucket) -> Answer:
    try:
        answer = _looked_up(calls, bucket)
    except NotChecked as fault:
        answer = not_checked("bucket", bucket.name, str(fault), fault.action)
    except AwsRefused as refusal:  # about the call: the data in the bucket are looked for nevertheless
        answer = not_checked("bucket", bucket.name, f"S3 rejects the request: {refusal}")
    if answer.rows[0].state == "wrong":
        return answer
    return Answer(rows=answer.rows, then=tuple(_data_questions(store, bucket)))


def _looked_up(calls: PreflightCalls, bucket: UsedBucket) -> Answer:
    arn = parsed_arn(bucket.name)
    if arn is not None and (arn.service != "s3" or not arn.region):
        kind = "a Multi-Region Access Point" if arn.service == "s3" else f"an access point of {arn.service}"
        raise NotChecked(f"{kind} has no region that smspec can ask for")
    if arn is not None and arn.region != calls.region:
        return _elsewhere(bucket, arn.region, calls)
    try:
        region = _region(calls, bucket, is_arn=arn is not None)
    except _Absent:
        return wrong("bucket", bucket.name, f"does not exist; {_uses(bucket)}")
    # Servers other than AWS's have a region of their own, whatever the job's is.
    if region and region != calls.region and not calls.emulator("s3"):
        return _elsewhere(bucket, region, calls)
    return ok("bucket", bucket.name, f"in {region or calls.region}; {_uses(bucket)}")


def _region(calls: PreflightCalls, bucket: UsedBucket, *, is_arn: bool) -> str:
    """Return the region of a bucket that the caller may see; empty if the response does not contain it."""
    client = calls.client("s3")
    purpose = f"look for the bucket `{bucket.name}`"
    try:
        found = calls.called(purpose, "s3:ListBucket", lambda: client.head_bucket(Bucket=bucket.name), keeps=DENIED)
    except AwsRefused as refusal:
        region = refusal.headers.get(_REGION_HEADER, "")
        if refusal.code in _ABSENT:
            raise _Absent from None
        if region and (refusal.code in _ELSEWHERE or region != calls.region):
            return region
        if refusal.code not in DENIED:
            raise
        if is_arn or bucket.name.endswith(_DIRECTORY):
            raise _unseen(region, "s3:ListBucket") from None
    else:
        region = found.get("BucketRegion") or ""
        return region if isinstance(region, str) else ""
    # A policy that allows to list some prefixes only does not allow HeadBucket.
    try:
        located = calls.called(purpose, "s3:GetBucketLocation", lambda: client.get_bucket_location(Bucket=bucket.name))
    except NotChecked as fault:
        raise (_unseen(region, fault.action) if fault.action else fault) from None
    named = str(located.get("LocationConstraint") or "")
    return region or _OLD_NAMES.get(named, named)


def _unseen(region: str, action: str) -> NotChecked:
    there = f"it exists in {region}, but " if region else ""
    return NotChecked(f"{there}AWS denies `{action}`", action)


def _elsewhere(bucket: UsedBucket, region: str, calls: PreflightCalls) -> Answer:
    return wrong("bucket", bucket.name, f"is in {region}, but the job runs in {calls.region}; {_uses(bucket)}")


def _uses(bucket: UsedBucket) -> str:
    more = len(bucket.uses) - _MOST_USES
    return ", ".join(bucket.uses[:_MOST_USES]) + (f", and {more} more" if more > 0 else "")


def _data_questions(store: RegionalS3, bucket: UsedBucket) -> Iterator[AwsQuestion]:
    """Yield a question for each address: several channels may read the same objects."""
    channels: dict[tuple[str, str], list[str]] = {}
    for name, uri, kind in bucket.data:
        channels.setdefault((uri, kind), []).append(name)
    for (uri, kind), names in channels.items():
        yield AwsQuestion(
            kind="channel",
            name=", ".join(names),
            waits_for=f"S3 about the data in `{bucket.name}`",
            ask=partial(_data, store, names, uri, kind),
        )


def _data(store: RegionalS3, names: Sequence[str], uri: str, kind: str) -> Answer:
    is_prefix = kind == S3_PREFIX
    state: State
    try:
        is_there = store.has_objects(uri) if is_prefix else store.has_object(uri)
    except JobRefused as refused:
        state, text, action = "wrong", str(refused), ""
    except ActionDenied as denied:  # the role of the job may read what its submitter may not
        state, text, action = "not checked", str(denied), denied.action
    except AwsUnavailable as fault:
        state, text, action = "not checked", str(fault), ""
    else:
        state, action = "ok" if is_there else "wrong", ""
        text = "has data" if is_prefix else "its manifest exists"
        if not is_there:
            text = f"{'no objects begin with' if is_prefix else 'no such object:'} `{uri}`"
    return Answer(
        rows=tuple(CheckRow(kind="channel", name=name, state=state, text=text, action=action) for name in names)
    )


class _Absent(Exception):
    """There is no such bucket."""
