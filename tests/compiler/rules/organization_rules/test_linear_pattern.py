"""Patterns that are searched in linear time find what Python's own do."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.rules.organization_rules.linear_pattern import LinearPattern, UnusablePattern

PARTS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\.", "^", "$", "1"])
PATTERNS = st.recursive(
    PARTS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}", "*?"])).map(
            lambda two: f"({two[0]}){two[1]}"
        ),
    ),
    max_leaves=6,
)


@given(pattern=PATTERNS, text=st.text("ab1.", max_size=8))
def test_finds_what_python_finds(pattern, text):
    assert LinearPattern(pattern).is_in(text) == (re.search(pattern, text) is not None)


@pytest.mark.parametrize(
    "pattern", ["(", ")", "a**", "[a", "*a", r"\1", "(?=a)", "a{3,1}", "\\", "a" * 201, "[b-a]", "{2}"]
)
def test_unusable_pattern(pattern):
    with pytest.raises(UnusablePattern):
        LinearPattern(pattern)
