"""A remembered result is that of an equal value, to the last bit and in the order of keys, or of the object itself."""

import copy
import pickle

from hypothesis import given
from hypothesis import strategies as st

from smspec.source import frozen
from smspec.source.frozen import ByContent, ByIdentity

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
    monkeypatch.setattr(frozen, "_MOST", 10)
    remembered = ByContent()
    for number in range(100):
        assert remembered.of("x", [number], tuple) == (number,)
        assert len(remembered._known) <= 10
    large = ["a" * 5000]
    assert remembered.of("x", large, tuple) is not remembered.of("x", large, tuple)


@given(st.lists(st.tuples(st.sampled_from("xy"), st.lists(st.integers(0, 2), max_size=2)), max_size=30))
def test_remembered_result_is_that_of_the_object(questions):
    """Most lists live only while they are asked about, so that addresses are used again."""
    remembered = ByIdentity()
    kept = {}

    def asked(subject, value):
        return remembered.of(subject, value, lambda: (subject, *value))

    for subject, numbers in questions:
        value = kept.setdefault(tuple(numbers), [*numbers]) if subject == "x" else [*numbers]
        assert asked(subject, value) == (subject, *numbers)


def test_one_object_is_asked_about_once_per_subject():
    remembered, value = ByIdentity(), ["a"]
    first = remembered.of("x", value, list)
    assert remembered.of("x", value, list) is first
    assert remembered.of("y", value, list) is not first
    assert remembered.of("x", ["a"], list) is not first


def test_several_objects_are_asked_about_together():
    remembered, value = ByIdentity(), ["a"]
    first = remembered.of_all("x", (value, None), list)
    assert remembered.of_all("x", (value, None), list) is first
    assert remembered.of_all("y", (value, None), list) is not first
    assert remembered.of_all("x", (value, value), list) is not first
    assert remembered.of_all("x", (["a"], None), list) is not first
    assert remembered.of("x", value, list) is not first


def test_memory_of_objects_is_bounded(monkeypatch):
    monkeypatch.setattr(frozen, "_MOST_SHARED", 10)
    remembered = ByIdentity()
    for number in range(100):
        assert remembered.of("x", [number], lambda: number) == number  # noqa: B023
        assert len(remembered._known) <= 10 and len(remembered._before) <= 10


def test_objects_that_are_asked_about_again_are_kept(monkeypatch):
    monkeypatch.setattr(frozen, "_MOST_SHARED", 10)
    remembered, value = ByIdentity(), ["a"]
    first = remembered.of("x", value, list)
    for _ in range(100):
        remembered.of("x", [], list)
        assert remembered.of("x", value, list) is first
