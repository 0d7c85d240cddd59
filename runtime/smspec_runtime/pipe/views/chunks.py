"""The view `chunks`."""

from typing import Iterator

from ..reader import Reader


def chunks(reader: Reader) -> Iterator[memoryview]:
    return iter(reader.chunk, None)
