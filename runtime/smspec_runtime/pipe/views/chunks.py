"""The view `chunks`: bytes as they come, each view valid until the next."""

from typing import Iterator

from ..reader import Reader


def chunks(reader: Reader) -> Iterator[memoryview]:
    return iter(reader.chunk, None)
