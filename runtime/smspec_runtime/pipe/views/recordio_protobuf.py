"""The view `recordio_protobuf`: the records of SageMaker's own algorithms (`application/x-recordio-protobuf`).

Each RecordIO payload is a message ``Record``, which maps names (usually "values") to tensors: ``features``, ``label``.
"""

from itertools import chain
from typing import Any, Dict, Iterator, List

from ..dense import Template, batches
from ..example import decode_record
from ..framing import blocks
from ..reader import Reader
from .recordio import MAGIC, WORDS, Records

TEMPLATES = 64
"""Kinds of records that are remembered; those of one kind have one size."""


def recordio_protobuf(reader: Reader, multipart: str = "dmlc", batch: int = 0) -> Iterator[Any]:
    """Iterate over records, or over batches of so many, the last one smaller if need be."""
    if batch:
        return batches(blocks(reader, Examples(reader, multipart, apart=False)), batch)
    return chain.from_iterable(blocks(reader, Examples(reader, multipart)))


class Examples(Records[Any]):
    """Payloads that are messages. The items are records or, unless ``apart``, pieces of batches."""

    def __init__(self, reader: Reader, multipart: str, apart: bool = True) -> None:
        super().__init__(reader, multipart)
        self._apart = apart
        self._templates: Dict[bytes, Template] = {}

    def complete(self, payload: bytes, offset: int, items: List[Any]) -> None:
        try:
            record, places = decode_record(payload)
        except ValueError as error:
            raise self.reader.corrupt(offset, f"the record is not a protobuf Record: {error}") from error
        head = WORDS.pack(MAGIC, len(payload))
        if places and (head in self._templates or len(self._templates) < TEMPLATES):
            frame = head + payload + bytes(-len(payload) & 3)
            template = self._templates[head] = Template(frame, len(head), record, places)
            if not self._apart:
                items.append(template.rows(frame, 0))
                return
        items.append(record if self._apart else [record])

    def plain(self, data: bytes, at: int, items: List[Any]) -> int:
        while not self.parts:
            template = self._templates.get(data[at : at + WORDS.size])
            rows = template.rows(data, at) if template else None
            if not template or not rows:
                break
            if self._apart:
                items += rows.records()
            else:
                items.append(rows)
                self.reader.source.stats.records += len(rows) - 1  # an item is counted as one
            at += len(rows) * template.size
        return at
