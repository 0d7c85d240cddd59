"""What a key or a value of another tool is called here."""

from __future__ import annotations

from functools import lru_cache

from smspec.source.frozen import dataclass
from smspec.spec.shape.words_of_other_tools import WORDS


@dataclass(frozen=True, slots=True)
class Hint:
    """``tool`` says the word; here it is one of ``keys``: the one that fits where it was written, else the first."""

    tool: str
    keys: tuple[str, ...]


_VALUES: dict[str, str] = {
    "sharded": "ShardedByS3Key",
    "replicated": "FullyReplicated",
    "manifest": "ManifestFile",
    "augmentedmanifest": "AugmentedManifestFile",
    "prefix": "S3Prefix",
    "stream": "Pipe",
    "streaming": "Pipe",
    "download": "File",
    "copy": "File",
    "mount": "FastFile",
    "gz": "Gzip",
    "readonly": "ro",
    "readwrite": "rw",
    "lustre": "FSxLustre",
    "fsx": "FSxLustre",
    "protobuf": "recordio_protobuf",
    "jsonl": "jsonlines",
    "docker": "image",
    "tf": "tensorflow",
    "romount": "FastFile",
    "mountcached": "FastFile",
    "rwmount": "FastFile",
    "urifolder": "S3Prefix",
    "urifile": "S3Prefix",
    "bykey": "ShardedByS3Key",
    "replicate": "FullyReplicated",
    "text": "lines",
    "tfrecords": "tfrecord",
    "efsfilesystem": "EFS",
    "ddp": "torchrun",
}


def hint(word: str) -> Hint | None:
    """Return what is known about a key that the spec does not have."""
    return _known().get(_bare(word))


@lru_cache(maxsize=1)
def _known() -> dict[str, Hint]:
    known: dict[str, Hint] = {}
    for tool, table in WORDS.items():
        for keys, words in table.items():
            for word in words.split():
                known.setdefault(_bare(word), Hint(tool, tuple(keys.split())))
    return known


def value_hint(word: str, allowed: tuple[str, ...]) -> str | None:
    """Return the value that another tool's word stands for, if it is one of those allowed."""
    value = _VALUES.get(_bare(word))
    return value if value in allowed else None


def hinted_keys() -> dict[str, tuple[str, ...]]:
    """Return every word of the table with its keys, for the test that these exist."""
    return {
        word: tuple(keys.split()) for table in WORDS.values() for keys, words in table.items() for word in words.split()
    }


def _bare(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "").replace(" ", "")
