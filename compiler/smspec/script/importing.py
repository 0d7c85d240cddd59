"""What names stand for after an import."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from smspec.script.frame import Frame
from smspec.script.names import Named
from smspec.script.values import UNKNOWN

if TYPE_CHECKING:
    from smspec.script.interpreter import Interpreter


def import_names(run: Interpreter, frame: Frame, node: ast.Import | ast.ImportFrom) -> None:
    """Bind the names that an import brings: modules beside the program as they are, others by their full names."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            _see_through(run, alias.name)
            top = alias.name.partition(".")[0]
            found = run.imported_module(alias.name)
            if alias.asname or found is None:
                frame.set(alias.asname or top, found or Named(alias.name if alias.asname else top, run))
            else:
                frame.set(top, found if top == alias.name else UNKNOWN)
        return
    if node.level or node.module is None:
        for alias in node.names:
            frame.set(alias.asname or alias.name, UNKNOWN)
        return
    _see_through(run, node.module)
    module = run.imported_module(node.module)
    for alias in node.names:
        if alias.name == "*":
            brought = module.frame.names if module else {}
            frame.forget_values()  # a module that could not be followed may bring others for them
            frame.names |= {name: value for name, value in brought.items() if not name.startswith("_")}
        elif module is not None:
            frame.set(alias.asname or alias.name, module.attribute(alias.name))
        else:
            below = run.imported_module(f"{node.module}.{alias.name}")
            frame.set(alias.asname or alias.name, below or Named(f"{node.module}.{alias.name}", run))


def _see_through(run: Interpreter, name: str) -> None:
    if name == "__main__":  # the program itself, under another name
        run.handed_on(name)
