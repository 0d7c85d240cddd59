"""Upload the files that a job reads from S3, each once: their names contain the digest of their content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from smspec.source.frozen import dataclass
from smspec.submission.object_content import MemoryContent
from smspec.submission.s3_service import S3Service


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that belongs at ``uri``; ``content`` reads it. ``kms_key`` None: the encryption of the bucket."""

    uri: str
    content: Callable[[], bytes]
    kms_key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The files that belong below a prefix. ``missing``: those that S3 does not have."""

    prefix: str
    files: tuple[Upload, ...]
    missing: tuple[Upload, ...]


def deliveries(service: S3Service, prefixes: Iterable[str], uploads: Iterable[Upload]) -> Iterator[Delivery]:
    """Yield the uploads below each prefix, which is listed once, and those that are missing."""
    uploads = tuple(uploads)
    for prefix in sorted(set(prefixes)):
        files = tuple(upload for upload in uploads if upload.uri.startswith(prefix))
        there = service.objects(prefix)
        yield Delivery(prefix=prefix, files=files, missing=tuple(file for file in files if file.uri not in there))


def upload_all(service: S3Service, uploads: Iterable[Upload]) -> Iterator[tuple[str, bool]]:
    """Upload each file, and yield its URI, and whether it was written: a different submission may have been faster."""
    for upload in uploads:
        yield upload.uri, service.put(upload.uri, MemoryContent(upload.content()), kms_key=upload.kms_key)
