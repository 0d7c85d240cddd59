"""What a value is as evidence: how surely two runs that agree on it would always agree.

Runs without a seed give other weights each time, but often the same accuracy, the same number of trees, or the same
best epoch. Only a number with so many digits that it hardly ever repeats by chance is certain alone.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

from smspec.rehearsal.values.leaf import Array, Leaf

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
