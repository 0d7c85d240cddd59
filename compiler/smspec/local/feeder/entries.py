"""The content of a channel as entries that are shuffled, sharded, and fed one after the other.

An entry of S3Prefix and ManifestFile is an object; of AugmentedManifestFile a line, with one part per attribute.
`order` says which of them a host gets in an epoch, and in which order.
"""

import hashlib
import json
from array import array
from typing import Any, Callable, List, Optional, Sequence, Union

from .objects import ChannelDataError, Part, Store, StoredObject
from .plan import FeederChannel

REFERENCE = "-ref"
"""Suffix of the attributes whose value is an S3 URI: the object's bytes are fed (developer guide)."""


class ChannelObjects:
    """The entries of S3Prefix and ManifestFile."""

    def __init__(self, objects: Sequence[StoredObject]) -> None:
        self.objects = objects

    def __len__(self) -> int:
        return len(self.objects)

    def parts(self, index: int) -> List[Part]:
        """Return what is fed for one entry."""
        return [self.objects[index]]

    def size(self, indexes: Sequence[int], framed: Optional[Callable[[int], int]] = None) -> Optional[int]:
        """Return the bytes of these entries, each as long as ``framed`` returns, or None if they must be read first."""
        total = 0
        for index in indexes:
            size = self.objects[index].size
            if size is None:
                return None
            total += framed(size) if framed is not None else size
        return total


class Samples:
    """The entries of AugmentedManifestFile: lines, kept as offsets into the manifest, which may be large."""

    def __init__(self, store: Store, attributes: Sequence[str]) -> None:
        self._store = store
        self._name, self._file = store.manifest()
        self._attributes = attributes
        self._offsets = array("Q")
        self._numbers = array("Q")
        offset = 0
        for number, line in enumerate(self._file, 1):
            if line.strip():
                self._offsets.append(offset)
                self._numbers.append(number)
            offset += len(line)

    def __len__(self) -> int:
        return len(self._offsets)

    def parts(self, index: int) -> List[Part]:
        """Return the parts of one line: its attributes, in the order of AttributeNames; others are omitted."""
        self._file.seek(self._offsets[index])
        line = self._file.readline()
        place = "line {} of `{}`".format(self._numbers[index], self._name)
        try:
            values = json.loads(line.decode("utf-8"), parse_float=_Float)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise ChannelDataError("{} is not a JSON object".format(place))
        for name in self._attributes:
            if name not in values:
                raise ChannelDataError("{} has no attribute `{}`".format(place, name))
        return [self._part(name, values[name], place) for name in self._attributes]

    def size(self, _indexes: Sequence[int], _framed: Optional[Callable[[int], int]] = None) -> Optional[int]:
        """Return None: the bytes are known only when they are read."""
        return None

    def _part(self, name: str, value: Any, place: str) -> Part:
        if not name.endswith(REFERENCE):
            return _text(value).encode("utf-8", "surrogatepass")
        if not isinstance(value, str):
            raise ChannelDataError("{}: attribute `{}` is not an S3 URI".format(place, name))
        return self._store.stored(value, value)


Entries = Union[ChannelObjects, Samples]


def entries_of(channel: FeederChannel, store: Store) -> Entries:
    """Return the content of a channel, before it is shuffled and sharded."""
    if channel.s3_data_type == "S3Prefix":
        return ChannelObjects(store.objects())
    if channel.s3_data_type == "AugmentedManifestFile":
        return Samples(store, channel.attributes)
    return ChannelObjects(_listed(store))


def _listed(store: Store) -> List[StoredObject]:
    """Parse ``[{"prefix": "s3://…/"}, "key", …]`` (API shape S3DataSource)."""
    manifest, file = store.manifest()
    with file:
        try:
            words = json.loads(file.read().decode("utf-8-sig"))
        except (ValueError, RecursionError) as fault:
            raise ChannelDataError("`{}` is not JSON: {}".format(manifest, fault)) from None
    first = words[0] if isinstance(words, list) and words else None
    prefix = first.get("prefix") if isinstance(first, dict) else None
    if not isinstance(prefix, str):
        raise ChannelDataError('`{}` is not a manifest: the first item must be {{"prefix": …}}'.format(manifest))
    for position, word in enumerate(words[1:], 1):
        if not isinstance(word, str):
            raise ChannelDataError("`{}` is not a manifest: item {} is not a string".format(manifest, position))
    return [store.stored(prefix + word, word) for word in words[1:]]


class _Float(float):
    """A number that keeps its spelling: the value of an attribute is fed as it is written in the manifest."""

    spelling: str

    def __new__(cls, spelling: str) -> "_Float":
        number = super().__new__(cls, spelling)
        number.spelling = spelling
        return number


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, _Float):
        return value.spelling
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def order(count: int, seed: Optional[int] = None, epoch: int = 0, shard: int = 0, shards: int = 1) -> List[int]:
    """Return the indexes of the entries that are fed.

    They are shuffled first, then dealt out in turn: with ShuffleConfig and ShardedByS3Key a host gets different objects
    in each epoch (API shape ShuffleConfig). SageMaker does not publish its permutation; this one depends only on the
    seed, the epoch, and the count, so every host computes the same one, with every Python.
    """
    indexes = list(range(count))
    if seed is not None:
        indexes.sort(key=lambda index: (_draw(seed, epoch, index), index))
    return indexes[shard::shards]


def _draw(seed: int, epoch: int, index: int) -> bytes:
    return hashlib.sha256("{}:{}:{}".format(seed, epoch, index).encode()).digest()
