"""The message `Record`, an example as SageMaker's own algorithms read it, and how one is decoded."""

from array import array
from functools import lru_cache
from importlib import import_module
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from .protobuf import FIXED32, FIXED64, LENGTH_DELIMITED, VARINT, Field, fields, varints

TYPECODES = {2: "f", 3: "d", 7: "i"}
"""Number of the field of a `Value` → what its tensor holds: float32, float64, int32."""

BYTES = 9
VALUES, KEYS, SHAPE = 1, 2, 3


class Tensor(NamedTuple):
    """Numbers: a numpy array where numpy is installed, else an ``array.array``.

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
    """One example: names (usually "values") → tensors."""

    features: Dict[str, Value]
    label: Dict[str, Value]
    uid: Optional[str] = None
    metadata: Optional[str] = None
    configuration: Optional[str] = None


class Place(NamedTuple):
    """Where the values of a dense tensor lie in a message, and how many bytes they are as an array."""

    typecode: str
    start: int
    stop: int
    size: int
    shape: Tuple[int, ...]


Places = Dict[Tuple[int, str], Place]
"""Member of `Record` (0 or 1) and name → place."""


def decode_record(data: bytes) -> Tuple[Record, Places]:
    """Decode one message; tell the places of all tensors if each has one. Raises ValueError."""
    maps: Tuple[Dict[str, Value], Dict[str, Value]] = ({}, {})
    texts: List[Optional[str]] = [None, None, None]
    places: Dict[Tuple[int, str], Optional[Place]] = {}
    for field in fields(data, 0, len(data)):
        if 1 <= field.number <= 5 and field.wire != LENGTH_DELIMITED:
            raise ValueError(f"field {field.number} is of the wrong kind")
        if field.number in (1, 2):
            member = field.number - 1
            name, maps[member][name], places[member, name] = _decode_entry(data, field)
        elif field.number in (3, 4, 5):
            texts[field.number - 3] = _text(data, field)
    known = {key: place for key, place in places.items() if place}
    return Record(maps[0], maps[1], *texts), known if len(known) == len(places) else {}


def _decode_entry(data: bytes, entry: Field) -> Tuple[str, Value, Optional[Place]]:
    """Decode one entry of a map: field 1 is the key, field 2 the value, one tensor or `Bytes`."""
    key, place = "", None
    value: Value = Tensor(numbers("f", b""))
    for part in fields(data, entry.start, entry.stop):
        if part.number == 1:
            key = _text(data, part)
        elif part.number == 2:
            for field in fields(data, part.start, part.stop):
                if field.number in TYPECODES:
                    value, place = _decode_tensor(data, field, TYPECODES[field.number])
                elif field.number == BYTES:
                    value, place = _decode_blobs(data, field), None
    return key, value, place


def _decode_tensor(data: bytes, message: Field, typecode: str) -> Tuple[Tensor, Optional[Place]]:
    pieces: List[Field] = []
    values = b""
    keys: Optional["array[int]"] = None
    shape: List[int] = []
    alone = {"f": FIXED32, "d": FIXED64, "i": VARINT}[typecode]
    for field in fields(data, message.start, message.stop):
        content = data[field.start : field.stop]
        if field.number <= SHAPE and field.wire not in (LENGTH_DELIMITED, alone if field.number == VALUES else VARINT):
            raise ValueError("the numbers of a tensor are of the wrong kind")
        if field.number == VALUES:
            pieces.append(field)
            values += int32s(content) if typecode == "i" else content
        elif field.number == KEYS:
            keys = (keys or array("Q")) + varints(content)
        elif field.number == SHAPE:
            shape.extend(varints(content))
    tensor = Tensor(numbers(typecode, values), None if keys is None else numbers("Q", keys.tobytes()), tuple(shape))
    if keys is None and len(pieces) == 1:
        return tensor, Place(typecode, pieces[0].start, pieces[0].stop, len(values), tensor.shape)
    if keys is not None and len(keys) != len(tensor.values):
        raise ValueError(f"a tensor has {len(keys)} keys and {len(tensor.values)} values")
    return tensor, None


def _decode_blobs(data: bytes, message: Field) -> Blobs:
    values: List[bytes] = []
    content_type = None
    for field in fields(data, message.start, message.stop):
        if field.number == 1:
            values.append(data[field.start : field.stop])
        elif field.number == 2:
            content_type = _text(data, field)
    return Blobs(values, content_type)


def _text(data: bytes, field: Field) -> str:
    return str(data[field.start : field.stop], "utf-8")


def int32s(packed: bytes) -> bytes:
    """Return packed varints as int32: of each, as protobuf does, the low 32 bits. Raises ValueError."""
    low = (value & 0xFFFFFFFF for value in varints(packed))
    return array("i", [value - (value >> 31 << 32) for value in low]).tobytes()


def numbers(typecode: str, data: bytes) -> Any:
    """Return numbers in the byte order of protobuf, and of every machine that SageMaker has, as an array."""
    library = numpy()
    if library is not None:
        return library.frombuffer(data, typecode) if data else library.empty(0, typecode)
    values = array(typecode)
    values.frombytes(data)
    return values


@lru_cache(maxsize=None)
def numpy() -> Any:
    """Return numpy, or None where the image has none. Imported late: it takes a tenth of a second."""
    try:
        return import_module("numpy")
    except ImportError:
        return None
