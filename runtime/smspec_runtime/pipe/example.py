"""The message `Record`, an example as SageMaker's own algorithms read it, and how one is decoded."""

from array import array
from functools import lru_cache
from importlib import import_module
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from .protobuf import FIXED32, FIXED64, LENGTH_DELIMITED, VARINT, fields, varints

TYPECODES = {2: "f", 3: "d", 7: "i"}  # number of the field of a `Value` → what its tensor holds: int32, if "i"
BYTES = 9
VALUES, KEYS, SHAPE = 1, 2, 3
KINDS = {"f": FIXED32, "d": FIXED64, "i": VARINT, "Q": VARINT}  # of numbers that are not packed


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
    """A dense tensor of `Record`'s member 0 or 1, ``size`` bytes as an array, and where its values lie in a message."""

    member: int
    name: str
    typecode: str
    size: int
    shape: Tuple[int, ...]
    start: int
    stop: int


def decode_record(data: bytes) -> Tuple[Record, List[Place]]:
    """Decode one message; tell the places of all tensors, in order, if each has one. Raises ValueError."""
    maps: Tuple[Dict[str, Value], Dict[str, Value]] = ({}, {})
    texts: List[Optional[str]] = [None, None, None]
    places: List[Place] = []
    for number, wire, at, content in fields(memoryview(data)):
        if 1 <= number <= 5 and wire != LENGTH_DELIMITED:
            raise ValueError(f"field {number} is of the wrong kind")
        if number in (1, 2):
            name, value, place = _decode_entry(content, at)
            maps[number - 1][name] = value
            if place:
                places.append(Place(number - 1, name, *place))
        elif number in (3, 4, 5):
            texts[number - 3] = str(content, "utf-8")
    return Record(*maps, *texts), places if len(places) == len(maps[0]) + len(maps[1]) else []


def _decode_entry(entry: memoryview, base: int) -> Tuple[str, Value, Any]:
    """Decode one entry of a map: field 1 is the key, field 2 the value, one tensor or `Bytes`."""
    key, place = "", None
    value: Value = Tensor(numbers("f", b""))
    for part, _, start, content in fields(entry, base):
        if part == 1:
            key = str(content, "utf-8")
        elif part == 2:
            for number, _, at, message in fields(content, start):
                if number in TYPECODES:
                    value, place = _decode_tensor(message, at, TYPECODES[number])
                elif number == BYTES:
                    value, place = _decode_blobs(message), None
    return key, value, place


def _decode_tensor(message: memoryview, base: int, typecode: str) -> Tuple[Tensor, Any]:
    packed = {VALUES: b"", SHAPE: b""}
    places = []
    for number, wire, at, content in fields(message, base):
        if number not in (VALUES, KEYS, SHAPE):
            continue
        kind = typecode if number == VALUES else "Q"
        if wire not in (LENGTH_DELIMITED, KINDS[kind]):
            raise ValueError("the numbers of a tensor are of the wrong kind")
        packed[number] = packed.get(number, b"") + unpack(kind, bytes(content))
        if number == VALUES:
            places.append((at, at + len(content)))
    values, shape = packed[VALUES], tuple(array("Q", packed[SHAPE]))
    tensor = Tensor(numbers(typecode, values), numbers("Q", packed[KEYS]) if KEYS in packed else None, shape)
    if tensor.keys is None:
        return tensor, (typecode, len(values), shape, *places[0]) if len(places) == 1 else None
    if len(tensor.keys) != len(tensor.values):
        raise ValueError(f"a tensor has {len(tensor.keys)} keys and {len(tensor.values)} values")
    return tensor, None


def _decode_blobs(message: memoryview) -> Blobs:
    found: Dict[int, List[bytes]] = {1: [], 2: []}
    for number, _, _, content in fields(message):
        found.setdefault(number, []).append(bytes(content))
    return Blobs(found[1], str(found[2][-1], "utf-8") if found[2] else None)


def unpack(typecode: str, packed: bytes) -> bytes:
    """Return packed numbers as the bytes of an array; as int32, like protobuf, the low 32 bits. Raises ValueError."""
    if typecode in "fd":
        return packed
    values = varints(packed)
    if typecode == "Q":
        return values.tobytes()
    low = (value & 0xFFFFFFFF for value in values)
    return array("i", [value - (value >> 31 << 32) for value in low]).tobytes()


def numbers(typecode: str, data: bytes) -> Any:
    """Return numbers in the byte order of protobuf, and of every machine that SageMaker has, as an array."""
    library = numpy()
    if library is None:
        return array(typecode, data)
    return library.frombuffer(data, typecode) if data else library.empty(0, typecode)


@lru_cache(maxsize=None)
def numpy() -> Any:
    """Return numpy, or None where the image has none. Imported late: it takes a tenth of a second."""
    try:
        return import_module("numpy")
    except ImportError:
        return None
