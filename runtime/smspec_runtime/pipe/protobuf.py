"""Reads the protobuf wire format, version 2: enough of it for the records of SageMaker's own algorithms."""

from array import array
from typing import Iterator, Tuple, Union

VARINT, FIXED64, LENGTH_DELIMITED, FIXED32 = 0, 1, 2, 5


Message = Union[bytes, memoryview]


def varint(data: Message, at: int) -> Tuple[int, int]:
    """Return the number at ``at`` and where it ends. Raises ValueError."""
    value, shift, stop = 0, 0, len(data)
    while at < stop and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
    raise ValueError("a number does not end" if at >= stop else "a number is longer than 10 bytes")


def varints(packed: bytes) -> "array[int]":
    """Return packed numbers, unsigned, 64 bits. Raises ValueError."""
    if packed.isascii():  # each number is one byte, as are all below 128
        return array("Q", list(packed))
    values = array("Q")
    at = 0
    while at < len(packed):
        value, at = varint(packed, at)
        values.append(value)
    return values


def fields(data: memoryview, base: int = 0) -> Iterator[Tuple[int, int, int, memoryview]]:
    """Iterate over number, kind, place and content of the fields of a message at ``base``. Raises ValueError."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        start = at
        if wire == VARINT:
            _, at = varint(data, at)
        elif wire == LENGTH_DELIMITED:
            length, start = varint(data, at)
            at = start + length
        elif wire in (FIXED64, FIXED32):
            at += 8 if wire == FIXED64 else 4
        else:
            raise ValueError(f"field {number} is of unknown kind {wire}")
        if at > len(data):
            raise ValueError(f"field {number} is longer than its message")
        yield number, wire, base + start, data[start:at]
