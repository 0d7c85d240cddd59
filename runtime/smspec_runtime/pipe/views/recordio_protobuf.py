"""The view `recordio_protobuf`: the records of SageMaker's own algorithms (`application/x-recordio-protobuf`).

Each RecordIO payload is a message ``Record``, which maps names (usually "values") to tensors: ``features``, ``label``.
"""

import sys
from array import array
from functools import lru_cache
from importlib import import_module
from itertools import chain
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from ..framing import blocks
from ..protobuf import FIXED32, FIXED64, LENGTH_DELIMITED, VARINT, Field, fields, varints
from ..reader import Reader
from .recordio import Records

FLOAT32_TENSOR, FLOAT64_TENSOR, INT32_TENSOR, BYTES = 2, 3, 7, 9
VALUES, KEYS, SHAPE = 1, 2, 3
TYPECODES = {FLOAT32_TENSOR: "f", FLOAT64_TENSOR: "d", INT32_TENSOR: "i"}
DTYPES = {"f": "<f4", "d": "<f8", "i": "<i4", "Q": "<u8"}


class Tensor(NamedTuple):
    """Numbers: a numpy array where numpy is installed (not writable), else an ``array.array``.

    Dense: ``keys`` is None. Sparse: ``keys`` holds the place of each value, in a tensor of ``shape``.
    """

    values: Any
    keys: Any = None
    shape: Tuple[int, ...] = ()


class Blobs(NamedTuple):
    """Values of kind `Bytes`, such as encoded images."""

    values: List[bytes]
    content_type: Optional[str] = None


Value = Union[Tensor, Blobs]


class Record(NamedTuple):
    """One example."""

    features: Dict[str, Value]
    label: Dict[str, Value]
    uid: Optional[str] = None
    metadata: Optional[str] = None
    configuration: Optional[str] = None


def recordio_protobuf(reader: Reader, multipart: str = "dmlc") -> Iterator[Record]:
    """Iterate over records."""
    return chain.from_iterable(blocks(reader, Examples(reader, multipart)))


class Examples(Records[Record]):
    """Payloads that are messages."""

    def complete(self, payload: bytes, offset: int, items: List[Record]) -> None:
        try:
            items.append(decode_record(payload))
        except ValueError as error:
            raise self.reader.corrupt(offset, f"the record is not a protobuf Record: {error}") from error


def decode_record(data: bytes) -> Record:
    """Decode one message ``Record``. Raises ValueError."""
    maps: Tuple[Dict[str, Value], Dict[str, Value]] = ({}, {})
    texts: List[Optional[str]] = [None, None, None]
    for field in fields(data, 0, len(data)):
        if 1 <= field.number <= 5 and field.wire != LENGTH_DELIMITED:
            raise ValueError(f"field {field.number} is of the wrong kind")
        if field.number in (1, 2):
            _decode_entry(data, field, maps[field.number - 1])
        elif field.number in (3, 4, 5):
            texts[field.number - 3] = str(data[field.start : field.stop], "utf-8")
    return Record(maps[0], maps[1], *texts)


def _decode_entry(data: bytes, entry: Field, into: Dict[str, Value]) -> None:
    """Decode one entry of a map: field 1 is the key, field 2 the value."""
    key = ""
    value: Value = Tensor(_numbers("f", []))
    for field in fields(data, entry.start, entry.stop):
        if field.number == 1:
            key = str(data[field.start : field.stop], "utf-8")
        elif field.number == 2:
            value = _decode_value(data, field)
    into[key] = value


def _decode_value(data: bytes, message: Field) -> Value:
    value: Value = Tensor(_numbers("f", []))
    for field in fields(data, message.start, message.stop):
        if field.number in TYPECODES:
            value = _decode_tensor(data, field, TYPECODES[field.number])
        elif field.number == BYTES:
            value = _decode_blobs(data, field)
    return value


def _decode_tensor(data: bytes, message: Field, typecode: str) -> Tensor:
    values: List[bytes] = []
    integers = array("i")
    keys: Optional["array[int]"] = None
    shape: List[int] = []
    for field in fields(data, message.start, message.stop):
        if field.number == VALUES and typecode == "i":
            integers.extend(map(_signed, _integers(data, field)))
        elif field.number == VALUES:
            if field.wire not in (LENGTH_DELIMITED, FIXED32 if typecode == "f" else FIXED64):
                raise ValueError("the values of a tensor are of the wrong kind")
            values.append(data[field.start : field.stop])
        elif field.number == KEYS:
            keys = (keys or array("Q")) + _integers(data, field)
        elif field.number == SHAPE:
            shape.extend(_integers(data, field))
    if typecode == "i":
        values = [_little_endian(integers).tobytes()]
    tensor = Tensor(
        values=_numbers(typecode, values),
        keys=None if keys is None else _numbers("Q", [_little_endian(keys).tobytes()]),
        shape=tuple(shape),
    )
    if tensor.keys is not None and len(tensor.keys) != len(tensor.values):
        raise ValueError(f"a tensor has {len(tensor.keys)} keys and {len(tensor.values)} values")
    return tensor


def _decode_blobs(data: bytes, message: Field) -> Blobs:
    values: List[bytes] = []
    content_type = None
    for field in fields(data, message.start, message.stop):
        if field.number == 1:
            values.append(data[field.start : field.stop])
        elif field.number == 2:
            content_type = str(data[field.start : field.stop], "utf-8")
    return Blobs(values, content_type)


def _integers(data: bytes, field: Field) -> "array[int]":
    if field.wire == VARINT:
        return array("Q", [field.value])
    if field.wire == LENGTH_DELIMITED:
        return varints(data, field.start, field.stop)
    raise ValueError("the integers of a tensor are of the wrong kind")


def _signed(value: int) -> int:
    """Read the low 32 bits of a varint as an int32, as protobuf does."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def _numbers(typecode: str, pieces: List[bytes]) -> Any:
    """Return little-endian numbers as a numpy array, which may share the bytes, or as an array.array."""
    data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    numpy = _numpy()
    if numpy is not None:
        return numpy.frombuffer(data, DTYPES[typecode]) if data else numpy.empty(0, DTYPES[typecode])
    numbers = array(typecode)
    numbers.frombytes(data)
    return _little_endian(numbers)


def _little_endian(numbers: "array[Any]") -> "array[Any]":
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


@lru_cache(maxsize=None)
def _numpy() -> Any:
    """Return numpy, or None where the image has none. Imported late: it takes a tenth of a second."""
    try:
        return import_module("numpy")
    except ImportError:
        return None
