"""What a value says about two runs that agree on it."""

from __future__ import annotations

import array
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.rehearsal.values.leaf import COUNT, LONG, SHORT, Array, evidence_of


def of(kind: str, *numbers: float) -> Array:
    code = {"f4": "f", "f8": "d", "i8": "q", "u1": "B"}[kind]
    return Array(kind, (len(numbers),), array.array(code, numbers).tobytes())


@pytest.mark.parametrize(
    ("value", "evidence"),
    [
        (7, COUNT),
        (True, SHORT),
        (0.98, SHORT),
        (3.0, SHORT),
        (29 / 30, SHORT),
        (0.966667, SHORT),
        (12 + 1 / 3, SHORT),
        (float("nan"), SHORT),
        (0.123456789, LONG),
        (2.5555813e-7, LONG),
        ("left", SHORT),
        ("the model of the third fold", SHORT),
        ("d41d8cd98f00b204e9800998ecf8427e", LONG),
        (None, SHORT),
        (of("f8", 0.98), COUNT),
        (of("f4", 29 / 30), COUNT),
        (of("f8", *[0.0, 1.0, 2.0] * 100), COUNT),
        (of("i8", 1, 2, 3, 4, 5), COUNT),
        (of("f4", 0.7071067811865), LONG),
        (of("i8", 123_456_789), LONG),
        (of("u1", *range(200)), LONG),
        (of("f4", *[0.0] * 5000, *(n / 7919 for n in range(5000))), LONG),
        (Array("c32", (2,), b"x" * 64), LONG),
    ],
    ids=[
        "count",
        "boolean",
        "two digits",
        "whole float",
        "thirtieths",
        "six digits",
        "thirds",
        "NaN",
        "nine digits",
        "exponent",
        "word",
        "sentence",
        "hash",
        "nothing",
        "array of two digits",
        "array of thirtieths",
        "array of labels",
        "array of numbers",
        "array of a long number",
        "array of a long integer",
        "array of bytes",
        "array with a long tail",
        "array of objects",
    ],
)
def test_evidence_of_a_value(value, evidence):
    assert evidence_of(value) == evidence


@given(st.integers(1, 400), st.data())
def test_rates_of_few_cases_are_short(cases, data):
    """Also if they are a percentage, or rounded as in a log."""
    rate = data.draw(st.integers(0, cases)) / cases
    assert evidence_of(rate) == evidence_of(100 * rate) == SHORT
    if cases <= 100:
        assert evidence_of(float(f"{rate:.6f}")) == SHORT


def test_few_other_numbers_look_like_rates():
    chosen = random.Random(1)
    numbers = [chosen.random() for _ in range(2000)]
    assert sum(evidence_of(number) != LONG for number in numbers) < 10
    assert sum(evidence_of(float(f"{number:.6f}")) != LONG for number in numbers) < 450
