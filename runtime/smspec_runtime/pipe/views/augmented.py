"""The view `augmented`: what an augmented manifest names, one mapping per line of the manifest.

With ``RecordWrapperType: RecordIO`` each attribute is a record of its own, in the order of AttributeNames. Nothing in
the stream marks where a line begins and nothing in the container tells the names, so they come with the job.
"""

from itertools import chain
from typing import Dict, Iterator, List, Optional, Sequence

from ..framing import Unfinished, blocks
from ..reader import Reader
from .recordio import Records


def augmented(reader: Reader, names: Sequence[str] = (), multipart: str = "dmlc") -> Iterator[Dict[str, bytes]]:
    """Iterate over mappings from attribute name to bytes: the object's for ``…-ref``, else the value's text."""
    if not names:
        raise ValueError("the names of the attributes are missing: give them in the order of AttributeNames")
    return chain.from_iterable(blocks(reader, Attributes(reader, names, multipart)))


class Attributes(Records[Dict[str, bytes]]):
    """Every ``len(names)`` records are one item."""

    def __init__(self, reader: Reader, names: Sequence[str], multipart: str) -> None:
        super().__init__(reader, multipart)
        self._names = tuple(names)
        self._values: List[bytes] = []
        self._first = 0

    def complete(self, payload: bytes, offset: int, items: List[Dict[str, bytes]]) -> None:
        if not self._values:
            self._first = offset
        self._values.append(payload)
        if len(self._values) == len(self._names):
            items.append(dict(zip(self._names, self._values)))
            self._values.clear()

    def unfinished(self) -> Optional[Unfinished]:
        if self._values:
            missing = self._names[len(self._values)]
            return Unfinished(self._first, f"an object of {len(self._names)} attributes: `{missing}` is missing")
        return super().unfinished()
