"""The views, functions of a reader and of options: how the bytes of an epoch become items."""

from typing import Any, Callable, Dict, Iterator

from .augmented import augmented
from .chunks import chunks
from .csv import csv
from .jsonlines import jsonlines
from .lines import lines
from .recordio import recordio
from .recordio_protobuf import recordio_protobuf
from .tar import tar
from .tfrecord import tfrecord

_ALL = chunks, lines, jsonlines, csv, recordio, recordio_protobuf, augmented, tfrecord, tar
VIEWS: Dict[str, Callable[..., Iterator[Any]]] = {view.__name__: view for view in _ALL}
