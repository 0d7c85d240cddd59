"""The view `recordio_protobuf`: `application/x-recordio-protobuf`."""

from typing import Any, Dict, Iterator

from ..dense import Template, batches
from ..example import decode_record
from ..reader import Reader
from .recordio import MAGIC, WORDS, Records

TEMPLATES = 64  # kinds of records, each of one size


def recordio_protobuf(reader: Reader, multipart: str = "dmlc", batch: int = 0) -> Iterator[Any]:
    examples = Examples(reader, multipart, bool(batch))
    return batches(examples.blocks(), batch) if batch else iter(examples)


class Examples(Records):
    """The items are records or, if ``grouped``, pieces of batches."""

    name = "a RecordIO record of protobuf"

    def __init__(self, reader: Reader, multipart: str, grouped: bool) -> None:
        super().__init__(reader, multipart)
        self._grouped = grouped
        self._templates: Dict[bytes, Template] = {}

    def complete(self, payload: bytes) -> None:
        record, places = decode_record(payload)
        head = WORDS.pack(MAGIC, len(payload))
        piece: Any = [record]
        if places and (head in self._templates or len(self._templates) < TEMPLATES):
            frame = head + payload + bytes(-len(payload) & 3)
            template = self._templates[head] = Template(frame, len(head), record, places)
            if self._grouped:
                piece = template.rows(frame, 0)
        self._append(piece)

    def plain(self, data: bytes, at: int) -> int:
        while not self.parts and (template := self._templates.get(data[at : at + WORDS.size])):
            rows = template.rows(data, at)
            if not rows:
                break
            self._append(rows)
            at += len(rows) * template.size
        return at

    def _append(self, piece: Any) -> None:
        if self._grouped:
            self.items.append(piece)
            self.reader.source.stats.records += len(piece) - 1  # counted as one
        else:
            self.items += piece
