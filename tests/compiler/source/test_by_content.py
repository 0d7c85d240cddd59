"""A remembered result is that of an equal value: equal to the last bit, and in the order of its keys."""

import copy
import pickle

from hypothesis import given
from hypothesis import strategies as st

from smspec.source import memo
from smspec.source.memo import ByContent

LEAVES = st.sampled_from((None, True, False, 0, 1, 2**70, 0.0, -0.0, 1.0, float("inf"), "", "a", "1", "é", "\ud800"))
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab1"), inner, max_size=3)
)


@given(st.lists(st.tuples(st.sampled_from("xy"), VALUES), max_size=20))
def test_remembered_result_is_that_of_the_value_itself(questions):
    remembered = ByContent()
    for subject, value in questions:
        find = {"x": repr, "y": lambda new: f"y {new!r}"}[subject]
        assert remembered.of(subject, copy.deepcopy(value), find) == find(value)


def test_equal_values_share_one_result():
    remembered = ByContent()
    first = remembered.of("x", {"a": ["b", 1]}, list)
    assert remembered.of("x", pickle.loads(pickle.dumps({"a": ["b", 1]})), list) is first
    assert remembered.of("y", {"a": ["b", 1]}, list) is not first


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(memo, "_MOST", 10)
    remembered = ByContent()
    for number in range(100):
        assert remembered.of("x", [number], tuple) == (number,)
        assert len(remembered._known) <= 10
    large = ["a" * 5000]
    assert remembered.of("x", large, tuple) is not remembered.of("x", large, tuple)
