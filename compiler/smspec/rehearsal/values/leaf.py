"""One value: a scalar, or an array of numbers as its bytes; whether two values are equal, and what that proves.

Runs without a seed give other weights each time, but often the same accuracy, the same number of trees, or the same
best epoch. Only a number with so many digits that it hardly ever repeats by chance is certain alone. Details of a run,
such as its duration, and logs differ between runs of a right job, and rounded ones are equal in many pairs of runs by
chance.
"""

from __future__ import annotations

import array
import math
import re
import struct
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction

from smspec.source.frozen import dataclass

Scalar = str | int | float | bool | None

SHORT, COUNT, LONG = range(3)
"""A rounded number, a rate, or a word; a whole number; many digits."""

_FEW_DIGITS = 5
_LONG_WORD = 20
_DIGITS_OF_A_WORD = re.compile(r"(?:[^\d]*\d){8}")
_LARGE = 1_000_000
_LARGEST_DENOMINATOR = 10_000
_ALL_DIGITS = 15
_DIGITS = {"f4": 7, "c8": 7, "f2": 3, "bf16": 2}
"""The digits of numbers of a type that has fewer than Python's."""

_MANY = 16
"""Different numbers of an array, or bytes, that hardly ever repeat by chance."""
_LOOKED_AT = 256

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_OF_THE_RUN = re.compile(
    r"(?:wall|wall_?|run)?times?|timestamps?|date|datetime|sec|secs|seconds?|ms|minutes?|hours?|elapsed|durations?|"
    r"clock|eta|latency|throughput|speed|pid|uuid|hostname|session|"
    r"resum\w*|restart\w*|restor\w*|interrupt\w*|preempt\w*|attempts?|created|started|finished|ended|now|today",
    re.IGNORECASE,
)
"""Words in the name of a value."""
_START = re.compile(
    r"(?:^|[\W_])(?:(?:start|starting|initial|first)_(?:global_)?(?:epoch|step|iter|iteration|batch)"
    r"|(?:loaded|init|initialized|continued?|resumed?)_?from)(?:$|\W)",
    re.IGNORECASE,
)
"""Names of the step at which a run begins, and of the file that it begins with."""
_PHRASE = re.compile(r"this[_ ](?:run|session)|(?:/|per_?)s\b", re.IGNORECASE)
"""What a run does itself, without those before it, and rates such as `it/s`."""
_OF_THIS_START = re.compile(
    r"(?:^|[\W_])(?:epochs?|steps?|iter(?:ation)?s?|batches|updates)_(?:run|ran|executed)$", re.IGNORECASE
)
"""Names of what a start has done, which many programs do not add to what was done before."""
_LINE = re.compile(r"(?:^|:)line\[\d+\](?:\.number\[\d+\])?$")
_TRAIN_LOSS = re.compile(r"train_loss(?=\[\d+\]$|$)")
_CLOCK = re.compile(r"\d{1,2}:\d{2}|\d{4}-\d{2}-\d{2}")

_LOGS = re.compile(
    r"(?:^|/)(?:events\.out\.tfevents\.[^/]*|[^/]*\.log|(?:[^/]*[_.-])?(?:logs?|stdout|stderr)(?:\.(?:txt|out)|/.*)?)$"
)

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


def evidence_of(value: Leaf) -> int:
    """Return how much it says that two runs agree on a value: hardly by chance if it is LONG."""
    if isinstance(value, Array):
        return _of_array(value)
    if isinstance(value, float):
        return _of_number(value)
    if isinstance(value, str):
        # A digest or a state, and no sentence.
        return LONG if len(value) >= _LONG_WORD and _DIGITS_OF_A_WORD.match(value) else SHORT
    return COUNT if isinstance(value, int) and not isinstance(value, bool) else SHORT


def _of_number(value: float) -> int:
    if not math.isfinite(value) or value.is_integer():
        return SHORT
    digits = len(repr(abs(value)).partition("e")[0].replace(".", "").strip("0"))
    return LONG if digits > _FEW_DIGITS and not _is_rate(value, digits) else SHORT


def _is_rate(value: float, digits: int) -> bool:
    """Return whether a number is that of so many cases of a few, such as an accuracy of 29/30.

    Fractions with such denominators are so few that a fiftieth of all other numbers looks like one.
    """
    magnitude = abs(value)
    # The last of all digits have the errors of the division.
    unit = 10.0 ** (math.floor(math.log10(magnitude)) + 1 - min(digits, _ALL_DIGITS))
    most = min(_LARGEST_DENOMINATOR, int(math.sqrt(0.03 / unit)))
    return most > 0 and abs(Fraction(magnitude).limit_denominator(most) - Fraction(magnitude)) <= unit


def _of_array(array: Array) -> int:
    """Return LONG if there are many numbers, or one with many digits: it may be an array of counts, or one accuracy."""
    numbers = array.numbers()
    if numbers is None:
        return LONG if len(array.data) >= _MANY else COUNT
    some = numbers[:: max(1, len(numbers) // _LOOKED_AT)]
    if len(set(some)) >= _MANY:
        return LONG
    digits = _DIGITS.get(array.kind)
    rounded = (float(f"{number:.{digits}g}") if digits else float(number) for number in some)
    is_long = any(_of_number(number) == LONG or abs(number) >= _LARGE for number in rounded)
    return LONG if is_long else COUNT


def is_run_detail(path: str, leaves: Leaves) -> bool:
    """Return whether a value of a file is about the run; of a number in a text, the words are in its line."""
    value = leaves[path]
    if isinstance(value, Array):
        return False
    line = leaves.get(path.partition(".number[")[0]) if _LINE.search(path) else None
    words = f"{path} {line}" if isinstance(line, str) else path
    return (
        (isinstance(value, str) and _CLOCK.search(value) is not None)
        or any(_OF_THE_RUN.fullmatch(word) for word in _WORD.findall(words))
        or _START.search(path) is not None
        or _PHRASE.search(words) is not None
        # A Trainer of transformers sums it anew after a restart.
        or (_TRAIN_LOSS.search(path) is not None and _TRAIN_LOSS.sub("train_runtime", path) in leaves)
    )


def is_of_this_start(path: str, found: Leaf, expected: Leaf) -> bool:
    """Return whether a value that differs after a restart counts, by its name, only what the last start did."""
    if not is_number(found) or not is_number(expected) or _OF_THIS_START.search(path) is None:
        return False
    assert isinstance(found, int | float) and isinstance(expected, int | float)
    return found < expected


def is_log(name: str) -> bool:
    """Return whether a file in the model directory is a log: such as `train.log`, `log.txt`, and `logs/…`."""
    return _LOGS.search(name) is not None
