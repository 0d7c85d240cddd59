"""The view `augmented`: an attribute is a record, in the order of AttributeNames."""

from typing import List, Sequence

from ..framing import Framing
from ..reader import Reader
from .recordio import Records


class Objects(Records):
    """Attribute name → bytes: the object's for ``…-ref``, else the value's text."""

    plain = Framing.plain

    def __init__(self, reader: Reader, names: Sequence[str] = (), multipart: str = "dmlc") -> None:
        if not names:
            raise ValueError("the names of the attributes are missing: give them in the order of AttributeNames")
        super().__init__(reader, multipart)
        self._names = tuple(names)
        self._values: List[bytes] = []
        self._start = 0

    def complete(self, payload: bytes) -> None:
        if not self._values:
            self._start = self.begin
        self._values.append(payload)
        if len(self._values) == len(self._names):
            self.items.append(dict(zip(self._names, self._values)))
            self._values.clear()

    def finish(self) -> None:
        if self._values:
            names, have = self._names, len(self._values)
            self.reader.end_inside(self._start, f"an object of {len(names)} attributes: `{names[have]}` is missing")
        super().finish()
