"""The view `chunks`."""

from typing import Iterator

from ..reader import Reader


def chunks(reader: Reader) -> Iterator[memoryview]:
    """Iterate over the bytes as they come; each view is valid until the next is asked for."""
    return iter(reader.chunk, None)
