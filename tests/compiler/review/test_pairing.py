"""Pairing of specs before and after by name and place."""

import pytest

from smspec.review.comparison import State, paired
from support.review.job_reviews import version


def states(written):
    """Return the states that `a:one b:two` stands for: place and name; without a name it could not be compiled."""
    found = []
    for place, _, name in (word.partition(":") for word in written.split()):
        versions = {None: version(name=name)} if name else {}
        found.append(State(file=place, place=place, versions=versions, faults={}, is_read=bool(name)))
    return found


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        ("a:one b:two", "a:one b:two", "a→a b→b"),
        ("a:one b:two", "a:two b:one", "a→a b→b"),
        ("a:one", "b:one", "a→b"),
        ("a:one", "a:other", "a→a"),
        ("a:one", "b:other", "→b a→"),
        ("a:one b:two", "a:two", "a→a b→"),
        ("a:one", "a:other b:one", "a→a →b"),
        ("a:one", "a:one b:one", "a→a →b"),
        ("a:one", "b:one c:one", "→b →c a→"),
        ("a:one b:one", "a:one c:one", "a→a b→c"),
        ("x/a/j:one x/b/j:one", "y/b/j:one y/a/j:one", "x/b/j→y/b/j x/a/j→y/a/j"),
        ("x/a/j:one x/b/j:one", "y/b/j:one y/c/j:one", "x/b/j→y/b/j x/a/j→y/c/j"),
        ("a:one", "a:", "a→a"),
        ("a:", "a:one", "a→a"),
        ("a: b:", "c:", "→c a→ b→"),
    ],
)
def test_states_are_paired(before, after, pairs):
    found = paired(states(before), states(after))
    assert [f"{old.place if old else ''}→{new.place if new else ''}" for old, new in found] == pairs.split()
