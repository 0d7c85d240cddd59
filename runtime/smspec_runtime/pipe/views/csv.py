"""The view `csv`: rows of text. Quoted fields may hold delimiters, quotes and line breaks."""

import csv as standard
import io
from itertools import chain
from typing import Iterator, List

from ..reader import Reader
from .lines import line_blocks


def csv(reader: Reader, delimiter: str = ",") -> Iterator[List[str]]:
    """Iterate over rows of UTF-8 text. A header is a row like any other; empty lines are passed over."""
    blocks = _Blocks(reader)
    # Strict, because otherwise data that is cut inside quotes would pass for a row.
    rows = standard.reader(map(bytes.decode, chain.from_iterable(blocks)), delimiter=delimiter, strict=True)
    while True:
        offset = blocks.offset + blocks.current.tell()
        try:
            row = next(rows, None)
        except (standard.Error, UnicodeDecodeError) as error:
            if blocks.ended:
                reader.end_inside(offset, "a quoted field")
                return
            raise reader.corrupt(offset, f"the row is not CSV: {error}") from error
        if row is None:
            return
        if row:
            yield row


class _Blocks:
    """Blocks of lines; ``offset`` is where the ``current`` one begins."""

    def __init__(self, reader: Reader) -> None:
        self.offset = 0
        self.current = io.BytesIO()
        self.ended = False
        self._blocks = line_blocks(reader)

    def __iter__(self) -> "_Blocks":
        return self

    def __next__(self) -> io.BytesIO:
        following = next(self._blocks, None)
        if following is None:
            self.ended = True
            raise StopIteration
        self.offset += self.current.tell()
        self.current = following
        return following
