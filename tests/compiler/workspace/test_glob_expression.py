"""Patterns with any number of stars match correctly and fast."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.workspace.git_patterns import SPAN, STAR, git_patterns, joined
from smspec.workspace.ignore_rules import docker_patterns, ignored
from support.examples import at_most

PARTS = st.lists(st.sampled_from([STAR, STAR, SPAN, "a", "b", "[^/]", "(?!/)[ab]", "/", "a/", "/"]), max_size=9)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", "/", "a/", "x"]), max_size=9).map("".join)


@pytest.mark.slow
@settings(max_examples=at_most(3000))
@given(PARTS, PATHS)
def test_expression_matches_like_backtracking(parts, path):
    expected = re.fullmatch("".join(parts), path)
    assert bool(re.fullmatch(joined(parts), path)) is bool(expected)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 20 + "b", "a" * 200),
        ("*[a]" * 20 + "b", "a" * 200),
        ("*?" * 20 + "b", "a" * 200),
        ("**/a/" * 20 + "b", "a/" * 98 + "a"),
        ("**/*a/" * 20 + "b", "aa/" * 98 + "a"),
        ("**/a*a*a/" * 10 + "b", "aaaaaaaaaa/" * 98 + "a"),
    ],
)
def test_long_name_is_rejected_quickly(pattern, path):
    start = time.process_time()
    assert git_patterns([pattern]).verdict(path, False) is None
    assert not ignored(docker_patterns([pattern]), path)
    assert time.process_time() - start < 20  # an idle machine takes less than 1
