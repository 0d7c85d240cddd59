"""Texts that can be parsed within a moment, and the nodes of their trees."""

import ast
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.script import script_files
from smspec.script.script_files import is_readable, nodes_of

PIECES = (
    *("(", "[", "{", ")", "]", "}", "'", '"', "'''", '"""', "\\", "\n", "#", "a", " not ", " elif ", "+", "r", "é"),
    *("(" * 31, "[{" * 16, ")" * 5, "\n" + " " * 61, "\n" + "\t" * 59, "\n" + "\t" * 61, "+ " * 1001),
)


@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_brackets_alone_show_what_all_tokens_show(pieces):
    text = "".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(script_files, "_most_operators", lambda _: math.inf)
        from_all_tokens = is_readable(text)
    assert is_readable(text) == from_all_tokens


def test_nodes_are_those_of_the_standard_library():
    with open(script_files.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    assert [*map(id, nodes_of(tree))] == [*map(id, ast.walk(tree))]
