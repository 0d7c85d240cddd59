"""One epoch of one channel."""

import io
from itertools import islice
from typing import Any, Dict, Iterator, List, Optional, Sequence, Union

from .errors import Origin, PipeError
from .example import Record
from .fifo import Fifo
from .gunzip import Gunzip
from .prefetch import Prefetch
from .reader import CHUNK, Reader
from .stats import Stats
from .stop_waits import Wake, process_wake
from .views import VIEWS
from .views.tar import Member


class Stream:
    """Reads a FIFO or a regular file once, from the first item on, in one view; SIGTERM ends the iteration.

    ``read``: the view; ``attributes``: names for `augmented`; ``prefetch`` in bytes, time-outs in seconds."""

    def __init__(
        self,
        path: str,
        read: str = "chunks",
        attributes: Sequence[str] = (),
        prefetch: int = 0,
        open_timeout: float = 600.0,
        idle_timeout: float = 3600.0,
        *,
        channel: Optional[str] = None,
        epoch: Optional[int] = None,
        wake: Optional[Wake] = None,
    ) -> None:
        _check(read)
        wake = wake or process_wake()
        self.origin = Origin(path, channel, epoch)
        self.stats = Stats()
        self._read, self._attributes = read, attributes
        fifo = Fifo(self.origin, self.stats, wake, open_timeout, idle_timeout)
        self.reader = Reader(Prefetch(fifo, prefetch) if prefetch else fifo)
        self._name: Optional[str] = None
        self._items: Iterator[Any] = iter(())
        self._file: Optional[io.BufferedReader] = None
        wake.call(self.reader.exhaust)

    def __iter__(self) -> Iterator[Any]:
        return self._begin(self.view)

    @property
    def view(self) -> str:
        """The view under way, else that of ``read``."""
        return self._name or self._read

    def gunzip(self) -> "Stream":
        """Decompress, for any view."""
        if self._name:
            raise ValueError(f"{self} is being read already")
        self.reader.source = Gunzip(self.reader.source)
        return self

    def chunks(self) -> Iterator[memoryview]:
        """Bytes as they come, each view valid until the next."""
        return self._begin("chunks")

    def lines(self) -> Iterator[bytes]:
        """Lines with their newlines."""
        return self._begin("lines")

    def jsonlines(self) -> Iterator[Any]:
        """The JSON values of lines."""
        return self._begin("jsonlines")

    def csv(self, delimiter: str = ",") -> Iterator[List[str]]:
        """Rows of text."""
        return self._begin("csv", delimiter=delimiter)

    def recordio(self, multipart: str = "dmlc") -> Iterator[bytes]:
        """Payloads of RecordIO records."""
        return self._begin("recordio", multipart=multipart)

    def recordio_protobuf(self, multipart: str = "dmlc") -> Iterator[Record]:
        """Features and labels."""
        return self._begin("recordio_protobuf", multipart=multipart)

    def augmented(self, names: Sequence[str] = (), multipart: str = "dmlc") -> Iterator[Dict[str, bytes]]:
        """Attribute name → bytes."""
        return self._begin("augmented", names=names, multipart=multipart)

    def tfrecord(self, crc: bool = False) -> Iterator[bytes]:
        """Payloads of TFRecord records."""
        return self._begin("tfrecord", crc=crc)

    def tar(self) -> Iterator[Member]:
        """Regular files of tar archives."""
        return self._begin("tar")

    def batches(self, size: int, view: Optional[str] = None) -> Iterator[Any]:
        """Lists of ``size`` items; `recordio_protobuf` yields a `Batch`, and chunks become bytes."""
        if size < 1:
            raise ValueError(f"a batch of {size} items")
        name = view or self.view
        if name == "recordio_protobuf":
            return self._begin(name, batch=size)
        items = self._begin(name)
        return _batches(map(bytes, items) if name == "chunks" else items, size)

    def readinto(self, buffer: Union[bytearray, memoryview]) -> int:
        """Read at least one byte; 0 at the end. Mixes with `chunks`."""
        self._begin("chunks")
        view = memoryview(buffer).cast("B")
        return self.reader.readinto(view) if len(view) else 0

    def file(self) -> io.BufferedReader:
        """A binary file that cannot seek; closing it closes the stream."""
        if not self._file:
            self._claim("file")
            self._file = io.BufferedReader(self.reader, CHUNK)
        return self._file

    @property
    def stopped(self) -> bool:
        """Whether SIGTERM ended the data."""
        return self.end == "stopped"

    @property
    def end(self) -> Optional[str]:
        """None, then "eof", "stopped" or "closed" (by `close`)."""
        return self.reader.source.end

    def close(self) -> None:
        """An iteration ends at its next item."""
        self.reader.source.close()
        self.reader.exhaust()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Stream of {self.origin}: {self.stats.bytes} bytes, {self.end or 'open'}>"

    def _begin(self, name: str, **options: Any) -> Iterator[Any]:
        _check(name)
        if not self._name:
            if name == "augmented":
                options["names"] = options.get("names") or self._attributes
            self._items = iter(VIEWS[name](self.reader, **options))
        self._claim(f"{name} in batches" if "batch" in options else name)
        return self._items

    def _claim(self, name: str) -> None:
        if self._name not in (None, name):
            raise ValueError(f"{self} is being read as `{self._name}`, so it cannot be read as `{name}`")
        self._name = name


def _batches(items: Iterator[Any], size: int) -> Iterator[List[Any]]:
    """A fault follows the items before it."""
    while True:
        batch: List[Any] = []
        try:
            batch.extend(islice(items, size))
        except PipeError:
            if batch:
                yield batch
            raise
        if not batch:
            return
        yield batch


def _check(view: str) -> None:
    if view not in VIEWS:
        raise ValueError(f"no view `{view}`; there is {', '.join(VIEWS)}")
