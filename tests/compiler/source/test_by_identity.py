"""A remembered result is that of the object itself, not of another object that is equal or has its address."""

from hypothesis import given
from hypothesis import strategies as st

from smspec.source import memo
from smspec.source.memo import ByIdentity


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


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(memo, "_MOST_SHARED", 10)
    remembered = ByIdentity()
    for number in range(100):
        assert remembered.of("x", [number], lambda: number) == number  # noqa: B023
        assert len(remembered._known) <= 10 and len(remembered._before) <= 10


def test_objects_that_are_asked_about_again_are_kept(monkeypatch):
    monkeypatch.setattr(memo, "_MOST_SHARED", 10)
    remembered, value = ByIdentity(), ["a"]
    first = remembered.of("x", value, list)
    for _ in range(100):
        remembered.of("x", [], list)
        assert remembered.of("x", value, list) is first
