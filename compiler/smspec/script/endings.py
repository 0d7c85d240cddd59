"""How a block of statements ends early, and which ends are failures."""

from __future__ import annotations

import ast
from typing import Literal

Ending = Literal["raise", "leave", "exit"]
"""How a block ends early: with a failure, by leaving the function or the loop, or the whole program."""

LEAVING = (ast.Return, ast.Break, ast.Continue)

_FAILURES = ("Error", "Exception", "Interrupt", "Warning")
"""How names of exceptions end that fail a job; SystemExit may end it well."""


def is_failure(raised: ast.expr | None) -> bool:
    """Tell whether an exception ends a job with a failure, if nothing catches it; a bare `raise` goes on with one."""
    if raised is None:
        return True
    kind = raised.func if isinstance(raised, ast.Call) else raised
    name = kind.attr if isinstance(kind, ast.Attribute) else kind.id if isinstance(kind, ast.Name) else ""
    if name == "SystemExit" and isinstance(raised, ast.Call) and raised.args:
        return isinstance(raised.args[0], ast.Constant) and raised.args[0].value not in (0, None, False)
    return name.endswith(_FAILURES)
