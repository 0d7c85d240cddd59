"""One value: a scalar, or an array of numbers as its bytes; and whether two values are equal."""

from __future__ import annotations

import array
import math
import struct
import sys
from collections.abc import Iterator, Sequence

from smspec.source.frozen import dataclass

Scalar = str | int | float | bool | None


class Unreadable(Exception):
    """The data are not of this format."""


@dataclass(frozen=True, slots=True)
class Array:
    """Numbers in the order of memory. ``kind`` is a type of numpy without byte order, such as ``f4``, or ``bf16``."""

    kind: str
    shape: tuple[int, ...]
    data: bytes
    is_big: bool = False

    def numbers(self) -> Sequence[float] | None:
        """Return the numbers; None if the type has none that can be read."""
        if self.kind == "bf16":
            pairs = array.array("H", self.data)
            if sys.byteorder == "big":
                pairs.byteswap()
            return struct.unpack(f"<{len(pairs)}f", b"".join(struct.pack("<I", pair << 16) for pair in pairs))
        if self.kind == "f2":
            return struct.unpack(f"{'>' if self.is_big else '<'}{len(self.data) // 2}e", self.data)
        code = _CODES.get(self.kind)
        if code is None or len(self.data) % array.array(code).itemsize:
            return None
        numbers = array.array(code, self.data)
        if self.is_big != (sys.byteorder == "big"):
            numbers.byteswap()
        return numbers


_CODES = {
    "f4": "f",
    "f8": "d",
    "b1": "b",
    "i1": "b",
    "u1": "B",
    "i2": "h",
    "u2": "H",
    "i4": "i",
    "u4": "I",
    "i8": "q",
    "u8": "Q",
    "c8": "f",
    "c16": "d",
}

Leaf = Scalar | Array
Leaves = dict[str, Leaf]
"""Path in the file → value, such as ``layers[0].weight``."""


def same(first: Leaf, second: Leaf, tolerance: float | None) -> bool:
    """Return whether two values are equal, or numbers that differ by at most the tolerance, absolute or relative."""
    if isinstance(first, Array) and isinstance(second, Array):
        if first == second:
            return True
        if (first.kind, first.shape) != (second.kind, second.shape):
            return False
        pair = first.numbers(), second.numbers()
        if tolerance is None or pair[0] is None or pair[1] is None:
            return False
        return len(pair[0]) == len(pair[1]) and all(map(_Near(tolerance), pair[0], pair[1]))
    if is_number(first) and is_number(second):
        assert isinstance(first, int | float) and isinstance(second, int | float)
        if first == second or (first != first and second != second):
            return True
        return tolerance is not None and _Near(tolerance)(first, second)
    return type(first) is type(second) and first == second


class _Near:
    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance

    def __call__(self, first: float, second: float) -> bool:
        if first == second:
            return True
        if math.isnan(first) or math.isnan(second):
            return math.isnan(first) and math.isnan(second)
        return abs(first - second) <= self._tolerance * max(1.0, abs(first), abs(second))


def described(found: Leaf, expected: Leaf) -> str:
    """Return how a value differs from the expected one, as the end of a sentence."""
    if not isinstance(found, Array) or not isinstance(expected, Array):
        return f"is {_shown(found)} instead of {_shown(expected)}"
    if found.shape != expected.shape or found.kind != expected.kind:
        return f"is an array {found.kind}{list(found.shape)} instead of {expected.kind}{list(expected.shape)}"
    numbers, wanted = found.numbers(), expected.numbers()
    if numbers is None or wanted is None:
        return "has other bytes"
    differing = [index for index, pair in enumerate(zip(numbers, wanted, strict=False)) if not same(*pair, None)]
    if not differing:
        return "has other bytes"
    first = differing[0]
    return (
        f"has {_shown(numbers[first])} instead of {_shown(wanted[first])} at position {first}: "
        f"{len(differing):,} of {len(wanted):,} numbers differ, by at most {_shown(_largest(numbers, wanted))}"
    )


def _largest(numbers: Sequence[float], wanted: Sequence[float]) -> float:
    return max((abs(a - b) for a, b in zip(numbers, wanted, strict=False) if a == a and b == b), default=math.nan)


def is_number(value: Leaf) -> bool:
    """Return whether a value is a single number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Leaf) -> str:
    if isinstance(value, Array):
        return f"an array {value.kind}{list(value.shape)}"
    if isinstance(value, float):
        return f"{value:.9g}"
    text = f"`{value}`" if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:56]}…`"


def flattened(value: object, path: str = "") -> Iterator[tuple[str, Leaf]]:
    """Yield the leaves of nested lists and mappings, without recursion."""
    ahead: list[tuple[object, str]] = [(value, path)]
    while ahead:
        current, name = ahead.pop()
        if isinstance(current, dict):
            ahead += [(item, f"{name}.{key}" if name else str(key)) for key, item in reversed(current.items())]
            if not current:
                yield f"{name}{{}}", None
        elif isinstance(current, list | tuple):
            ahead += [(item, f"{name}[{index}]") for index, item in reversed(list(enumerate(current)))]
            if not current:
                yield f"{name}[]", None
        elif isinstance(current, str | int | float | bool | Array) or current is None:
            yield name, current
        else:
            yield name, repr(current)
