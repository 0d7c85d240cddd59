"""Upload the files that a job reads from S3, each once: their names contain the digest of their content."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator

from smspec.source.frozen import dataclass
from smspec.submission.aws_errors import JobRefused
from smspec.submission.object_content import MemoryContent, has_sha256
from smspec.submission.s3_service import S3Service


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that belongs at ``uri``; ``content`` reads it. ``kms_key`` None: the encryption of the bucket."""

    uri: str
    content: Callable[[], bytes]
    kms_key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The files that belong below a prefix. ``missing``: those that S3 does not have.

    ``differing``: the URIs of those that have another content there. ``others``: objects that do not belong there.
    """

    prefix: str
    files: tuple[Upload, ...]
    missing: tuple[Upload, ...]
    differing: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def deliveries(service: S3Service, prefixes: Iterable[str], uploads: Iterable[Upload]) -> Iterator[Delivery]:
    """Yield the uploads below each prefix, which is listed once, and how it differs from them.

    A name proves nothing: any user who may write to the bucket can have put other code there.
    """
    uploads = tuple(uploads)
    for prefix in sorted(set(prefixes)):
        files = {upload.uri: upload for upload in uploads if upload.uri.startswith(prefix)}
        there = service.objects(prefix)
        folder = [prefix] if prefix in there and not there[prefix].size else []
        yield Delivery(
            prefix=prefix,
            files=tuple(files.values()),
            missing=tuple(file for uri, file in files.items() if uri not in there),
            differing=tuple(
                uri for uri, file in files.items() if uri in there and not is_stored(service, file, there[uri].size)
            ),
            others=tuple(sorted(there.keys() - files.keys() - set(folder))),
        )


def is_stored(service: S3Service, upload: Upload, size: int) -> bool:
    """Return whether the object of an upload, which has a size in S3, has its content, by SHA-256."""
    content = MemoryContent(upload.content())
    if content.size != size:
        return False
    checksum = str(service.head(upload.uri).get("ChecksumSHA256", ""))
    has_same = has_sha256(content, checksum) if checksum else None
    if has_same is None:
        return service.sha256_of(upload.uri, size) == hashlib.sha256(content.data).hexdigest()
    return has_same


def upload_all(service: S3Service, uploads: Iterable[Upload]) -> Iterator[tuple[str, bool]]:
    """Upload each file, and yield its URI, and whether it was written: a different submission may have been faster.

    Raise `JobRefused` if that has written another content.
    """
    for upload in uploads:
        content = MemoryContent(upload.content())
        is_new = service.put(upload.uri, content, kms_key=upload.kms_key)
        if not is_new and not is_stored(service, upload, int(service.head(upload.uri).get("ContentLength", -1))):
            raise JobRefused(f"`{upload.uri}` was written by a different process, and is not the file of the spec")
        yield upload.uri, is_new
