"""The protobuf message `Record` of SageMaker's own algorithms."""

from array import array
from functools import lru_cache
from importlib import import_module
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5  # kinds of fields
TYPECODES = {2: "f", 3: "d", 7: "i"}  # field of a `Value` → type of its tensor
ALONE = {"f": FIXED32, "d": FIXED64}  # kind of one number; others: VARINT
BYTES = 9
VALUES, KEYS, SHAPE = 1, 2, 3


class Tensor(NamedTuple):
    """Numbers, as arrays of numpy if installed. Sparse: ``keys`` has the place of each value."""

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
    uid: Optional[str]
    metadata: Optional[str]
    configuration: Optional[str]


class Place(NamedTuple):
    """A dense tensor in the ``member`` 0 or 1 of a record: ``size`` bytes as an array."""

    member: int
    name: str
    typecode: str
    size: int
    shape: Tuple[int, ...]
    start: int
    stop: int


def decode_record(data: bytes) -> Tuple[Record, List[Place]]:
    """Return places, too, if all tensors have one. Raises ValueError."""
    maps: Any = ({}, {})
    texts: List[Optional[str]] = [None] * 3
    places: List[Any] = []
    for number, wire, at, content in _fields(memoryview(data)):
        if number not in range(1, 6):
            continue
        if wire != DELIMITED:
            raise ValueError(f"field {number} is of the wrong kind")
        if number < 3:
            name, maps[number - 1][name], place = _entry(content, at)
            places.append(place and Place(number - 1, name, *place))
        else:
            texts[number - 3] = str(content, "utf-8")
    dense = all(places) and len(places) == sum(map(len, maps))  # names may be repeated
    return Record(*maps, *texts), places if dense else []


def _entry(entry: memoryview, base: int) -> Tuple[str, Value, Any]:
    """Of a map: field 1 is the key, 2 the value."""
    key, place = "", None
    value: Value = Tensor(numbers("f", b""))
    for part, _, start, content in _fields(entry, base):
        if part == 1:
            key = str(content, "utf-8")
        elif part == 2:
            for number, _, at, message in _fields(content, start):
                if number in TYPECODES:
                    value, place = _tensor(message, at, TYPECODES[number])
                elif number == BYTES:
                    value, place = _blobs(message), None
    return key, value, place


def _tensor(message: memoryview, base: int, typecode: str) -> Tuple[Tensor, Any]:
    packed = {VALUES: b"", SHAPE: b""}
    places = []
    for number, wire, at, content in _fields(message, base):
        if number in (VALUES, KEYS, SHAPE):
            kind = typecode if number == VALUES else "Q"
            if wire not in (DELIMITED, ALONE.get(kind, VARINT)):
                raise ValueError("the numbers of a tensor are of the wrong kind")
            packed[number] = packed.get(number, b"") + unpack(kind, bytes(content))
            if number == VALUES:
                places.append((at, at + len(content)))
    values, shape = numbers(typecode, packed[VALUES]), tuple(array("Q", packed[SHAPE]))
    if KEYS not in packed:
        place = (typecode, len(packed[VALUES]), shape, *places[0]) if len(places) == 1 else None
        return Tensor(values, None, shape), place
    keys = numbers("Q", packed[KEYS])
    if len(keys) != len(values):
        raise ValueError(f"a tensor has {len(keys)} keys and {len(values)} values")
    return Tensor(values, keys, shape), None


def _blobs(message: memoryview) -> Blobs:
    found: Dict[int, List[bytes]] = {1: [], 2: []}
    for number, _, _, content in _fields(message):
        found.setdefault(number, []).append(bytes(content))
    return Blobs(found[1], str(found[2][-1], "utf-8") if found[2] else None)


def _fields(data: memoryview, base: int = 0) -> Iterator[Tuple[int, int, int, memoryview]]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        start = at
        if wire == VARINT:
            _, at = _varint(data, at)
        elif wire == DELIMITED:
            length, start = _varint(data, at)
            at = start + length
        elif wire in (FIXED64, FIXED32):
            at += 8 if wire == FIXED64 else 4
        else:
            raise ValueError(f"field {number} is of unknown kind {wire}")
        if at > len(data):
            raise ValueError(f"field {number} is longer than its message")
        yield number, wire, base + start, data[start:at]


def _varint(data: Union[bytes, memoryview], at: int) -> Tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
    raise ValueError("a number is longer than 10 bytes" if shift == 70 else "a number does not end")


def unpack(typecode: str, packed: bytes) -> bytes:
    """Return the bytes of an array. Raises ValueError."""
    if typecode in "fd":
        return packed
    if packed.isascii():  # each number is one byte
        values = array("Q", list(packed))
    else:
        values, at = array("Q"), 0
        while at < len(packed):
            value, at = _varint(packed, at)
            values.append(value)
    wide = values.tobytes()
    return wide if typecode == "Q" else memoryview(wide).cast("i")[::2].tobytes()  # the low 32 bits, as protobuf does


def numbers(typecode: str, data: bytes) -> Any:
    """Return an array; all SageMaker machines have protobuf's byte order."""
    library = numpy()
    if library is None:
        return array(typecode, data)
    return library.frombuffer(data, typecode) if data else library.empty(0, typecode)


@lru_cache(maxsize=None)
def numpy() -> Any:
    """Late: it takes 0.1 s."""
    try:
        return import_module("numpy")
    except ImportError:
        return None
