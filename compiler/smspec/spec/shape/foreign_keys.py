"""Names of other tools for keys and values of the spec."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from smspec.source.frozen import dataclass
from smspec.spec.keys import ROWS, rows_below, rows_by_member
from smspec.spec.keys.row import API, TOOLS, Row


@dataclass(frozen=True, slots=True)
class Hint:
    """``tool`` uses the word for one of ``keys``: the one that fits where it was written, else the first."""

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
    """Return the hint for a key that the spec does not have."""
    return _known().get(_bare(word))


@lru_cache(maxsize=1)
def _known() -> dict[str, Hint]:
    """Return every word with its hint; a word of several tools has the meaning of the first."""
    known: dict[str, Hint] = {}
    for tool in TOOLS:
        keys: dict[str, list[str]] = {}
        for row in ROWS:
            for word in _words(row, tool):
                keys.setdefault(_bare(word), []).append(row.path)
        for word, paths in keys.items():
            known.setdefault(word, Hint(tool, tuple(paths)))
    return known


def _words(row: Row, tool: str) -> Iterator[str]:
    yield from row.words.get(tool, "").split()
    if tool == API:
        yield from _members().get(row.path, ())


@lru_cache(maxsize=1)
def _members() -> dict[str, list[str]]:
    """Return the names of the members that each key sets, except those that are also top-level keys of a spec."""
    ours = {_bare(row.name) for row in rows_below("")}
    members: dict[str, list[str]] = {}
    for path, rows in rows_by_member().items():
        name = str(path[-1])
        for row in rows:
            if _bare(name) not in ours:
                members.setdefault(row.path, []).append(name)
    return members


def value_hint(word: str, allowed: tuple[str, ...]) -> str | None:
    """Return the value that a different tool's word corresponds to, if it is one of those allowed."""
    value = _VALUES.get(_bare(word))
    return value if value in allowed else None


def hinted_keys() -> dict[str, tuple[str, ...]]:
    """Return every word of the table with its keys, so that tests can check that these exist."""
    keys: dict[str, tuple[str, ...]] = {}
    for row in ROWS:
        for word in (word for tool in TOOLS for word in _words(row, tool)):
            keys[word] = (*keys.get(word, ()), row.path)
    return keys


def _bare(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "").replace(" ", "")
