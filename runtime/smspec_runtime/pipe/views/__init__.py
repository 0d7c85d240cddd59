"""The views: how the bytes of an epoch become items. Each is a function of a reader and of its own options."""

from typing import Any, Callable, Dict, Iterator

from smspec_runtime.pipe.views.augmented import augmented
from smspec_runtime.pipe.views.chunks import chunks
from smspec_runtime.pipe.views.csv import csv
from smspec_runtime.pipe.views.jsonlines import jsonlines
from smspec_runtime.pipe.views.lines import lines
from smspec_runtime.pipe.views.recordio import recordio
from smspec_runtime.pipe.views.recordio_protobuf import recordio_protobuf
from smspec_runtime.pipe.views.tar import tar
from smspec_runtime.pipe.views.tfrecord import tfrecord

VIEWS: Dict[str, Callable[..., Iterator[Any]]] = {
    "chunks": chunks,
    "lines": lines,
    "jsonlines": jsonlines,
    "csv": csv,
    "recordio": recordio,
    "recordio_protobuf": recordio_protobuf,
    "augmented": augmented,
    "tfrecord": tfrecord,
    "tar": tar,
}
"""What ``read`` in a job spec may say."""
