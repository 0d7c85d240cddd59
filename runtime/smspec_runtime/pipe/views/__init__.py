"""How the bytes of an epoch become items."""

from typing import Any, Callable, Dict, Iterable

from .augmented import Objects
from .chunks import chunks
from .csv import csv
from .jsonlines import jsonlines
from .lines import lines
from .recordio import Records
from .recordio_protobuf import recordio_protobuf
from .tar import Members
from .tfrecord import TFRecords

VIEWS: Dict[str, Callable[..., Iterable[Any]]] = {
    "chunks": chunks,
    "lines": lines,
    "jsonlines": jsonlines,
    "csv": csv,
    "recordio": Records,
    "recordio_protobuf": recordio_protobuf,
    "augmented": Objects,
    "tfrecord": TFRecords,
    "tar": Members,
}
