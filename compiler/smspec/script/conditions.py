"""Conditions on the number of command line words."""

from __future__ import annotations

import ast


def asks_for_one_word(test: ast.expr) -> bool:
    """Return whether a condition is only true with a single word on the command line."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(asks_for_one_word, test.values))
    match test:
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(value=ast.Name(id="sys"), attr="argv")]),
            ops=[ast.Eq()],
            comparators=[ast.Constant(value=2)],
        ):
            return True
    return False
