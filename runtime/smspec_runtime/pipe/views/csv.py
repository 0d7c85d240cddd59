"""The view `csv`."""

import csv as standard
import io
from itertools import chain
from typing import Iterator, List

from ..reader import Reader
from .lines import line_blocks


def csv(reader: Reader, delimiter: str = ",") -> Iterator[List[str]]:
    """Iterate over rows of UTF-8 text. Empty lines are passed over; quoted fields may hold line breaks."""
    begin, block, ended = 0, io.BytesIO(), False

    def blocks() -> Iterator[io.BytesIO]:
        nonlocal begin, block, ended
        for following in line_blocks(reader):
            begin += block.tell()
            block = following
            yield block
        ended = True

    offset = 0
    try:
        # Strict, because otherwise data that is cut inside quotes would pass for a row.
        for row in standard.reader(map(bytes.decode, chain.from_iterable(blocks())), delimiter=delimiter, strict=True):
            if row:
                yield row
            offset = begin + block.tell()
    except (standard.Error, UnicodeDecodeError) as error:
        if not ended:
            raise reader.corrupt(offset, f"the row is not CSV: {error}") from error
        reader.end_inside(offset, "a quoted field")
