"""Upload the files that a job reads from S3, each once: their names contain the digest of their content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from smspec.source.frozen import dataclass
from smspec.submission.s3_service import S3Service, parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that belongs at ``uri``; ``content`` reads it."""

    uri: str
    content: Callable[[], bytes]


def missing(service: S3Service, prefix: str, uploads: Iterable[Upload]) -> list[Upload]:
    """Return the uploads below a prefix that are not in S3 yet."""
    bucket, _ = parts(prefix)
    there = {f"s3://{bucket}/{key}" for key in service.keys(prefix)}
    return [upload for upload in uploads if upload.uri not in there]


def upload_all(service: S3Service, uploads: Iterable[Upload]) -> Iterator[tuple[str, bool]]:
    """Upload each file, and yield its URI, and whether it was written: another submission may have been faster."""
    for upload in uploads:
        yield upload.uri, service.put(upload.uri, upload.content())
