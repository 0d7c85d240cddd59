"""The view `chunks`."""

from typing import Iterator

from ..reader import Reader


def chunks(reader: Reader) -> Iterator[memoryview]:
    """Iterate over bytes as they come, each view valid until the next."""
    return iter(reader.chunk, None)
