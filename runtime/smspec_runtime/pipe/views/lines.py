"""The view `lines`."""

import io
import re
from itertools import chain
from typing import Iterator

from ..reader import Reader

MAX_LINE = 512 << 20  # bytes without a newline
LINES = re.compile(rb"(?s).*\n").match  # up to the last newline: a memoryview has no `rfind`


def lines(reader: Reader) -> Iterator[bytes]:
    """The last line may lack its newline."""
    return chain.from_iterable(line_blocks(reader))


def line_blocks(reader: Reader) -> Iterator[io.BytesIO]:
    """Yield files of whole lines, iterated over at C speed."""
    begun = bytearray()
    for chunk in iter(reader.chunk, None):
        stop = 0
        if whole := LINES(chunk):
            stop = whole.end()
            yield reader.deliver(io.BytesIO(b"".join((begun, chunk[:stop]))))
            begun.clear()
        begun += chunk[stop:]
        if len(begun) > MAX_LINE:
            raise reader.corrupt(reader.offset - len(begun), f"{len(begun)} bytes without a newline")
    if begun and not reader.source.halted():
        yield reader.deliver(io.BytesIO(begun))
