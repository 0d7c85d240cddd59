"""The beginning of a module that runs before the module can change where Python finds modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable

from smspec.script.reach.relevant_text import CHANGES

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_FINDERS = frozenset({"__import__", "eval", "exec", "getattr", "globals", "locals", "vars"})
"""Functions that may call a definition whose name is not in their arguments."""


def early_statements(text: str, tree: ast.Module, doubtful: Iterable[str] = ()) -> int:
    """Return how many statements at the beginning of a module certainly run before it adds or installs modules.

    A definition whose text has a word that does, or that uses such a definition, may do so when a statement names it.
    ``doubtful``: the names of modules that do so when an import below a condition is executed.
    """
    words = "|".join([CHANGES, *(rf"\b{re.escape(name.rpartition('.')[2])}\b" for name in doubtful)])
    lines = re.split(r"\r\n|\r|\n", text)

    def changes(node: ast.stmt) -> bool:
        return re.search(words, "\n".join(lines[node.lineno - 1 : node.end_lineno])) is not None

    carriers = _carriers(tree, changes)
    for count, node in enumerate(tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            named = node.name in carriers and bool(node.decorator_list)
            outside = [*node.decorator_list, *node.args.defaults, *(part for part in node.args.kw_defaults if part)]
            opens = named or any(_uses(part, carriers) for part in outside)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            opens = False
        else:
            opens = changes(node) or _uses(node, carriers)
        if opens:
            return count
    return len(tree.body)


def _carriers(tree: ast.Module, changes: Callable[[ast.stmt], bool]) -> set[str]:
    """Return the names of the definitions that may change where modules come from when they are used."""
    definitions = [node for node in tree.body if isinstance(node, _Definition)]
    carriers = {node.name for node in definitions if changes(node)}
    grown = -1
    while grown != len(carriers):
        grown = len(carriers)
        carriers |= {node.name for node in definitions if node.name not in carriers and _uses(node, carriers)}
    return carriers


def _uses(tree: ast.AST, carriers: set[str]) -> bool:
    """Return whether code names one of some definitions, or may find it otherwise."""
    if not carriers:
        return False
    found = carriers | _FINDERS
    return any(
        (isinstance(node, ast.Name) and node.id in found) or (isinstance(node, ast.Attribute) and node.attr in carriers)
        for node in ast.walk(tree)
    )
