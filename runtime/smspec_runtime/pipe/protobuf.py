"""Reads the protobuf wire format, version 2: enough of it for the records of SageMaker's own algorithms."""

from array import array
from typing import Iterator, NamedTuple, Tuple

VARINT, FIXED64, LENGTH_DELIMITED, FIXED32 = 0, 1, 2, 5
FIXED = {FIXED64: 8, FIXED32: 4}


class Field(NamedTuple):
    """One field: its content goes from ``start`` to ``stop``."""

    number: int
    wire: int
    start: int
    stop: int


def varint(data: bytes, at: int, stop: int) -> Tuple[int, int]:
    """Return the number at ``at`` and where it ends. Raises ValueError."""
    value = shift = 0
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
    at, stop = 0, len(packed)
    while at < stop:
        value, at = varint(packed, at, stop)
        values.append(value)
    return values


def fields(data: bytes, at: int, stop: int) -> Iterator[Field]:
    """Iterate over the fields of the message between two places. Raises ValueError."""
    while at < stop:
        key, at = varint(data, at, stop)
        number, wire = key >> 3, key & 7
        start = at
        if wire == VARINT:
            _, at = varint(data, at, stop)
        elif wire == LENGTH_DELIMITED:
            length, start = varint(data, at, stop)
            at = start + length
        elif wire in FIXED:
            at += FIXED[wire]
        else:
            raise ValueError(f"field {number} is of unknown kind {wire}")
        if at > stop:
            raise ValueError(f"field {number} is longer than its message")
        yield Field(number, wire, start, at)
