"""How a block of statements ends early, and which endings are failures."""

from __future__ import annotations

import ast
from typing import Literal

Ending = Literal["raise", "leave", "exit"]
"""An early end of a block: by an exception, by leaving the function or the loop, or by ending the script."""

LEAVING = (ast.Return, ast.Break, ast.Continue)

_EXITS = ("_exit", "exit", "quit")

_FAILURES = ("Error", "Exception", "Interrupt", "Warning")
"""Suffixes of exception names that fail a job; SystemExit may end it successfully."""


def is_failure(raised: ast.expr | None) -> bool:
    """Return whether an uncaught exception fails the job; a bare `raise` re-raises one."""
    if raised is None:
        return True
    kind = raised.func if isinstance(raised, ast.Call) else raised
    name = kind.attr if isinstance(kind, ast.Attribute) else kind.id if isinstance(kind, ast.Name) else ""
    if name == "SystemExit" and isinstance(raised, ast.Call) and raised.args:
        return isinstance(raised.args[0], ast.Constant) and is_failing(raised.args[0].value)
    return name.endswith(_FAILURES)


def is_failing_exit(node: ast.Call) -> bool:
    """Return whether a call, if it ends the script, ends it with a failure: ``sys.exit(1)``."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in _EXITS or len(node.args) != 1:
        return False
    status = node.args[0]
    if isinstance(status, ast.UnaryOp) and isinstance(status.op, ast.USub):
        status = status.operand
    return isinstance(status, ast.Constant) and is_failing(status.value)


def is_failing(status: object) -> bool:
    """Return whether an exit status is a failure. The system keeps the last eight bits of a number."""
    if isinstance(status, int):
        return status % 256 != 0
    return status is not None and status is not ...
