"""Dense records in runs: one is parsed; those with the same bytes around their values have them at the same places."""

from functools import lru_cache
from itertools import chain
from struct import Struct
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from .errors import PipeError
from .example import Places, Record, Tensor, Value, int32s, numbers

RUN = 64
"""Records that are cut at once; then an eighth as many, then one."""


class Template:
    """A record with its RecordIO header and padding, cut into the places of values and what is around them."""

    def __init__(self, frame: bytes, head: int, record: Record, places: Places) -> None:
        self.places = sorted(places.items(), key=lambda item: item[1].start)
        self.texts = record[2:]
        self.size = len(frame)
        self._around: List[bytes] = []
        self._layout, at = "", 0
        for _, place in self.places:
            start, stop = head + place.start, head + place.stop
            self._around.append(frame[at:start])
            self._layout += f"{start - at}s{stop - start}s"
            at = stop
        self._around.append(frame[at:])
        self._layout += f"{len(frame) - at}s"
        self._integers = [i for i, (_, place) in enumerate(self.places) if place.typecode == "i"]

    def rows(self, data: bytes, at: int) -> "Rows":
        """Return the records at ``at`` up to the first of another kind or the end."""
        columns: List[List[bytes]] = [[] for _ in self.places]
        count = RUN
        while count:
            found = self._cut(data, at, count)
            if found:
                for column, values in zip(columns, found):
                    column += values
                at += count * self.size
            else:
                count //= 8
        return Rows(self, columns)

    def _cut(self, data: bytes, at: int, count: int) -> List[Tuple[bytes, ...]]:
        """Return the values of ``count`` records per place, nothing unless all are of this kind."""
        last = at + (count - 1) * self.size
        if last + self.size > len(data) or not data.startswith(self._around[0], last):
            return []
        parts = _struct(self._layout, count).unpack_from(data, at)
        step = 2 * len(self.places) + 1
        for i, same in enumerate(self._around):
            if parts[2 * i :: step].count(same) < count:
                return []
        columns = [parts[i::step] for i in range(1, step, 2)]
        for i in self._integers:
            try:
                columns[i] = tuple(map(int32s, columns[i]))
            except ValueError:
                return []
            if set(map(len, columns[i])) != {self.places[i][1].size}:
                return []
        return columns


class Rows:
    """Records of one template: the values of each tensor in all of them."""

    def __init__(self, template: Template, columns: List[List[bytes]]) -> None:
        self.template = template
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, some: slice) -> "Rows":
        return Rows(self.template, [column[some] for column in self.columns])

    def records(self) -> List[Record]:
        """Return the records one by one."""
        maps: List[List[Dict[str, Value]]] = [[{} for _ in self.columns[0]] for _ in range(2)]
        for ((member, name), place), column in zip(self.template.places, self.columns):
            for names, values in zip(maps[member], column):
                names[name] = Tensor(numbers(place.typecode, values), None, place.shape)
        return [Record(features, label, *self.template.texts) for features, label in zip(*maps)]


class Batch(Sequence[Record]):
    """Records in a row. ``features`` and ``label``: name → dense tensor with a row for each of them.

    Its values are numpy's matrix, else an ``array`` of row after row. ValueError: the records are not dense, or differ.
    """

    def __init__(self, pieces: List[Any]) -> None:
        self._pieces = pieces
        self._records: List[Record] = []

    def __len__(self) -> int:
        return sum(map(len, self._pieces))

    def __getitem__(self, index: Any) -> Any:
        if not self._records:
            pieces = (piece.records() if isinstance(piece, Rows) else piece for piece in self._pieces)
            self._records = list(chain.from_iterable(pieces))
        return self._records[index]

    @property
    def features(self) -> Dict[str, Tensor]:
        return self._stacked(0)

    @property
    def label(self) -> Dict[str, Tensor]:
        return self._stacked(1)

    def _stacked(self, wanted: int) -> Dict[str, Tensor]:
        columns: Dict[Tuple[str, str, int, Tuple[int, ...]], List[bytes]] = {}
        for piece in self._pieces:
            if not isinstance(piece, Rows):
                raise ValueError("a record of this batch is not dense; iterate over the records")
            for ((member, name), place), column in zip(piece.template.places, piece.columns):
                if member == wanted:
                    columns.setdefault((name, place.typecode, place.size, place.shape), []).extend(column)
        tensors = {}
        for (name, typecode, _, shape), column in columns.items():
            rows = len(column)
            if rows < len(self):
                raise ValueError(f"the records of this batch differ in `{name}`; iterate over them")
            values = numbers(typecode, b"".join(column))
            width = len(values) // rows
            if hasattr(values, "reshape"):
                values = values.reshape(rows, width)
            tensors[name] = Tensor(values, None, (rows, *(shape or (width,))))
        return tensors


def batches(blocks: Iterator[List[Any]], size: int) -> Iterator[Batch]:
    """Regroup pieces, ``size`` records in each batch. What came before a fault is yielded first."""
    pieces: List[Any] = []
    missing = size
    try:
        for block in blocks:
            while block:  # it is emptied when the stream is closed
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


@lru_cache(maxsize=64)
def _struct(layout: str, count: int) -> Struct:
    return Struct("<" + layout * count)
