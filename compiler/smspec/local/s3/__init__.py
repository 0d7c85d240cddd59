"""S3 as a source of local runs: the only part of `local` that uses boto3, imported for such channels.

The feeder itself needs only the standard library. For channels in S3, `store` starts the same feeder on this machine
with the Python of smspec, with a store that downloads objects. What a URI is, is known here without boto3.

boto3 renews the user's credentials, which are never in a plan or a container. Signed URLs would expire.
"""

from __future__ import annotations

from smspec.local.feeder.objects import LONGEST_KEY
from smspec.source.frozen import dataclass

SCHEME = "s3://"


@dataclass(frozen=True, slots=True)
class Location:
    """A bucket with a key or the prefix of keys."""

    bucket: str
    key: str

    @property
    def uri(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.key}"

    def relative(self, key: str) -> str:
        """Return the name of an object under this prefix, relative to a channel's directory.

        A prefix that does not end in ``/`` may be a directory, an object, or the beginning of names.
        """
        above, _, stem = self.key.rpartition("/")
        rest = key[len(above) + 1 :] if above else key
        return rest[len(stem) + 1 :] if stem and rest.startswith(f"{stem}/") else rest


def is_key(key: str) -> bool:
    """Return whether a key is valid in S3."""
    try:
        return len(key.encode()) <= LONGEST_KEY
    except UnicodeEncodeError:
        return False


def is_s3(source: str) -> bool:
    """Return whether a source is an S3 URI."""
    return source.startswith(SCHEME)


def parse(uri: str) -> Location | None:
    """Return the location of an S3 URI; None if it has no bucket."""
    bucket, _, key = uri.removeprefix(SCHEME).partition("/")
    return Location(bucket, key) if is_s3(uri) and bucket else None
