"""The result of a job in SageMaker, in S3."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from smspec.collection.faults import ResultRefused
from smspec.collection.object_checksum import checked, checksum_of
from smspec.collection.stored_result import ARCHIVE, KINDS, MODEL, OUTPUT, StoredFile, StoredResult
from smspec.local.feeder.fault import ChannelDataError, StoreUnavailable
from smspec.local.feeder.objects import StoredObject
from smspec.local.s3.client import CONNECTIONS, RANGE
from smspec.local.s3.fetching import Fetching
from smspec.submission.aws_errors import DENIED, ActionDenied, AwsUnavailable, denied_action
from smspec.submission.client import asked
from smspec.submission.s3_service import S3Service, object_arn, parts
from smspec.submission.training_job import TrainingJob
from smspec.wire.aws import AwsSession

_SLACK = 1 << 16
_DATA = "data/"
"""The developer guide names /opt/ml/output/data as what is uploaded, and not the prefix that it gets uncompressed."""


def s3_result(job: TrainingJob, store: S3Service, profile: str | None) -> StoredResult:
    """Return what a job has left in S3. Raise `JobRefused` for a missing bucket, or `AwsUnavailable`."""
    prefix = job.result_prefix
    if not prefix:
        raise ResultRefused(f"the job `{job.name}` writes no result to S3")
    _, key = parts(prefix)
    fetching = s3_fetching(profile, job.region or None)
    files = []
    for uri, listed in sorted(store.objects(prefix).items(), key=lambda entry: entry[0].encode()):
        _, found = parts(uri)
        name = _name(found[len(key) :])
        if name:
            blocks = functools.partial(checked_blocks, StoredObject(found, uri, listed.size), store, fetching)
            files.append(StoredFile(name=name, size=listed.size, blocks=blocks))
    return StoredResult(job=job.name, status=job.status, hosts=job.hosts, place=prefix, files=tuple(files))


def s3_fetching(profile: str | None, region: str | None) -> Fetching:
    """Return what downloads objects. Raise `AwsUnavailable` without credentials or region."""
    with asked("S3"):
        session = AwsSession(profile, region, largest=RANGE + _SLACK, connections=CONNECTIONS)
        return Fetching(session.s3_client())


def _name(key: str) -> str:
    """Return the name of an object below the prefix in the result; empty for one that does not belong to it."""
    directory, slash, rest = key.partition("/")
    if key in [kind + ARCHIVE for kind in KINDS]:
        return key
    if not rest or key.endswith("/"):  # the mark of a directory that a console made
        return ""
    if directory == MODEL:
        return key
    if directory + slash in (f"{OUTPUT}/", _DATA):
        return f"{OUTPUT}/{rest.removeprefix(_DATA) if directory == OUTPUT else rest}"
    return ""


def checked_blocks(stored: StoredObject, store: S3Service, fetching: Fetching) -> Iterator[bytes]:
    """Yield the content of an object, compared with the checksum that S3 keeps. Raise `ResultRefused` for a fault."""
    blocks = _read(stored, fetching)
    try:
        expected = checksum_of(store.head(stored.path))
    except ActionDenied:
        expected = None  # S3 says why only in the response to a download
    yield from blocks if expected is None else checked(stored.path, blocks, expected)


def _read(stored: StoredObject, fetching: Fetching) -> Iterator[bytes]:
    try:
        yield from fetching.read(stored)
    except ChannelDataError as fault:
        sentence = str(fault)
        if not isinstance(fault, StoreUnavailable):
            raise ResultRefused(sentence) from None
        if any(f": {code}:" in sentence for code in DENIED):
            raise (denied_action(sentence) or ActionDenied("s3:GetObject", object_arn(stored.path))) from None
        raise AwsUnavailable(sentence) from None
