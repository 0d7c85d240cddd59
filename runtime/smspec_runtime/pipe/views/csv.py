"""The view `csv`."""

import csv as standard
import io
from itertools import chain
from typing import Iterator, List

from ..reader import Reader
from .lines import line_blocks


def csv(reader: Reader, delimiter: str = ",") -> Iterator[List[str]]:
    """Yield rows of UTF-8 text, without empty ones."""
    begin, block = 0, io.BytesIO()

    def blocks() -> Iterator[io.BytesIO]:
        nonlocal begin, block
        for following in line_blocks(reader):
            begin += block.tell()
            block = following
            yield block

    offset = 0
    try:
        # Strict: data cut inside quotes is no row.
        for row in standard.reader(map(bytes.decode, chain.from_iterable(blocks())), delimiter=delimiter, strict=True):
            if row:
                yield row
            offset = begin + block.tell()
    except (standard.Error, UnicodeDecodeError) as error:
        if not str(error).endswith("end of data"):  # in quotes, a character
            raise reader.corrupt(offset, f"the row is not CSV: {error}") from None
        reader.end_inside(offset, "a row")
