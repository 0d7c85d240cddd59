"""Runs of dense records with the same bytes around their values."""

from itertools import chain
from struct import Struct
from typing import Any, Dict, Iterator, List, Sequence

from .errors import PipeError
from .example import Place, Record, Tensor, numbers, unpack
from .framing import repeated

RUN = 64  # records cut at once; then an eighth, then one


class Template:
    """A RecordIO record: its values, and what is around them."""

    def __init__(self, frame: bytes, head: int, record: Record, places: List[Place]) -> None:
        self.places, self.texts, self.size = places, record[2:], len(frame)
        self._layout, end = "", 0
        for place in places:
            self._layout += f"{head + place.start - end}s{place.stop - place.start}s"
            end = head + place.stop
        self._layout += f"{self.size - end}s"
        self._around = Struct(f"<{self._layout}").unpack(frame)[::2]

    def rows(self, data: bytes, at: int) -> "Rows":
        """Up to the first of another kind."""
        columns: List[List[bytes]] = [[] for _ in self.places]
        for count in (RUN, RUN // 8, 1):
            while self._cut(data, at, count, columns):
                at += count * self.size
        return Rows(self, columns)

    def _cut(self, data: bytes, at: int, count: int, columns: List[List[bytes]]) -> bool:
        """Add ``count`` records' values if all are of this kind."""
        last = at + (count - 1) * self.size
        if last + self.size > len(data) or not data.startswith(self._around[0], last):
            return False
        parts = repeated(self._layout, count).unpack_from(data, at)
        step = 2 * len(self.places) + 1
        for i, same in enumerate(self._around):
            if parts[2 * i :: step].count(same) < count:
                return False
        found: List[Sequence[bytes]] = [parts[i::step] for i in range(1, step, 2)]
        for i, place in enumerate(self.places):
            if place.typecode == "i":
                try:
                    found[i] = [unpack("i", values) for values in found[i]]
                except ValueError:
                    return False
                if set(map(len, found[i])) != {place.size}:
                    return False
        for column, values in zip(columns, found):
            column += values
        return True


class Rows:
    """Records of a template: a column per tensor."""

    def __init__(self, template: Template, columns: List[List[bytes]]) -> None:
        self.template, self.columns = template, columns

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, some: slice) -> "Rows":
        return Rows(self.template, [column[some] for column in self.columns])

    def __iter__(self) -> Iterator[Record]:
        maps: Any = [[{} for _ in self.columns[0]] for _ in range(2)]
        for place, column in zip(self.template.places, self.columns):
            for names, values in zip(maps[place.member], column):
                names[place.name] = Tensor(numbers(place.typecode, values), None, place.shape)
        return (Record(features, label, *self.template.texts) for features, label in zip(*maps))


class Batch(Sequence[Record]):
    """Records. ``features``, ``label``: name → tensor with a row for each. ValueError: not dense, or not alike."""

    def __init__(self, pieces: List[Any]) -> None:
        self._pieces = pieces
        self._records: List[Record] = []

    def __len__(self) -> int:
        return sum(map(len, self._pieces))

    def __getitem__(self, index: Any) -> Any:
        self._records = self._records or list(chain(*self._pieces))
        return self._records[index]

    @property
    def features(self) -> Dict[str, Tensor]:
        return self._stacked(0)

    @property
    def label(self) -> Dict[str, Tensor]:
        return self._stacked(1)

    def _stacked(self, member: int) -> Dict[str, Tensor]:
        columns: Dict[Any, List[bytes]] = {}
        for piece in self._pieces:
            if not isinstance(piece, Rows):
                raise ValueError("a record of this batch is not dense; iterate over the records")
            for place, column in zip(piece.template.places, piece.columns):
                if place.member == member:
                    columns.setdefault(place[1:5], []).extend(column)
        tensors, rows = {}, len(self)
        for (name, typecode, _, shape), column in columns.items():
            if len(column) < rows:
                raise ValueError(f"the records of this batch differ in `{name}`; iterate over them")
            values = numbers(typecode, b"".join(column))
            width = len(values) // rows
            if hasattr(values, "reshape"):
                values = values.reshape(rows, width)
            tensors[name] = Tensor(values, None, (rows, *(shape or (width,))))
        return tensors


def batches(blocks: Iterator[List[Any]], size: int) -> Iterator[Batch]:
    """Items before a fault are yielded first."""
    pieces: List[Any] = []
    missing = size
    try:
        for block in blocks:
            while block:  # emptied when the stream is closed
                piece = block.pop(0)
                if len(piece) > missing:
                    block.insert(0, piece[missing:])
                pieces.append(piece[:missing])
                missing -= len(pieces[-1])
                if not missing:
                    yield Batch(pieces)
                    pieces, missing = [], size
    except PipeError:
        if pieces:
            yield Batch(pieces)
        raise
    if pieces:
        yield Batch(pieces)
