"""The code of a job in SageMaker, which the SDK keeps in S3 as an archive."""

from __future__ import annotations

from collections.abc import Callable

from smspec.collection.gzip_reader import GzipReader
from smspec.collection.result_tree import ResultTree
from smspec.collection.s3_result import checked_blocks, s3_fetching
from smspec.collection.unpacking import unpack_archive
from smspec.local.feeder.objects import StoredObject
from smspec.submission.s3_service import S3Service, parts


def unpack_code(
    uri: str, directory: str, tree: ResultTree, warn: Callable[[str], None], profile: str | None, region: str | None
) -> None:
    """Write the files of an archive in S3 to a directory of the tree; the caller finishes the tree.

    Raise `ResultRefused` for an archive that is damaged or unsafe, `JobRefused` for one that does not exist,
    `AwsUnavailable` if S3 cannot be called or denies it, OSError for a full disk.
    """
    store = S3Service(profile, region)
    size = int(store.head(uri).get("ContentLength", 0))
    _, key = parts(uri)
    blocks = checked_blocks(StoredObject(key, uri, size), store, s3_fetching(profile, region))
    unpack_archive(GzipReader(uri, blocks), directory, tree, warn)
