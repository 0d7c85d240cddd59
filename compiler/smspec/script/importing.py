"""The values of names after an import."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from smspec.script.external_names import Named
from smspec.script.frame import Frame
from smspec.script.modules import Module, absolute
from smspec.script.values import UNKNOWN, Value

if TYPE_CHECKING:
    from smspec.script.interpreter import Interpreter


def import_names(run: Interpreter, frame: Frame, node: ast.Import | ast.ImportFrom) -> None:
    """Bind the names of an import: modules of the source as they are, others by their full names."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            found = run.imported_module(alias.name)
            if alias.asname is None:
                top = alias.name.partition(".")[0]
                frame.set(top, run.imported_module(top) or Named(top, run))
            else:
                frame.set(alias.asname, found or Named(alias.name, run))
        return
    name = absolute("." * node.level + (node.module or ""), frame.module.package)
    module = None if name is None else run.imported_module(name)
    for alias in node.names:
        if alias.name == "*":
            brought = module.frame.names if module else {}
            frame.forget_values()  # a module that could not be followed may import others instead
            for one, value in tuple(brought.items()):
                if not one.startswith("_"):
                    frame.set(one, run.taken_from(module, one) if module else value)
        else:
            value = UNKNOWN if name is None else _brought(run, name, module, alias.name)
            frame.set(alias.asname or alias.name, value)


def _brought(run: Interpreter, source: str, module: Module | None, name: str) -> Value:
    """Return the value of ``from source import name``: an attribute of the module, or else a submodule."""
    if module is not None and module.has(name):
        return run.taken_from(module, name)
    below = run.imported_module(f"{source}.{name}")
    if below is not None:
        return below
    return Named(f"{source}.{name}", run) if module is None else run.taken_from(module, name)
