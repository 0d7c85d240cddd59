"""The beginning of a module that runs before the module can change which modules Python finds."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_FINDERS = frozenset({"__import__", "eval", "exec", "getattr", "globals", "locals", "vars"})
"""Functions that may call a definition whose name is not in their arguments."""


def early_statements(text: str, tree: ast.Module, words: str) -> int:
    """Return how many statements at the beginning of a module certainly do not what ``words``, a pattern, stand for.

    A definition whose text has one of them, or that uses such a definition, may do so when a statement names it.
    """
    lines = re.split(r"\r\n|\r|\n", text)

    def changes(node: ast.stmt) -> bool:
        return re.search(words, "\n".join(lines[node.lineno - 1 : node.end_lineno])) is not None

    carriers = _carriers(tree, changes)

    def acts(node: ast.stmt) -> bool:
        """Return whether a statement may do so when it is executed; a definition does so only through what it runs."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            defaults = [*node.args.defaults, *(part for part in node.args.kw_defaults if part)]
            is_wrapped = bool(node.decorator_list) and (node.name in carriers or changes(node))
            return is_wrapped or any(_uses(part, carriers) for part in (*node.decorator_list, *defaults))
        if isinstance(node, ast.ClassDef):
            outside = [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
            is_wrapped = bool(node.decorator_list) and node.name in carriers
            return is_wrapped or any(_uses(part, carriers) for part in outside) or any(map(acts, node.body))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return False
        return changes(node) or _uses(node, carriers)

    return next((count for count, node in enumerate(tree.body) if acts(node)), len(tree.body))


def _carriers(tree: ast.Module, changes: Callable[[ast.stmt], bool]) -> set[str]:
    """Return the names of the definitions that may do so when they are used."""
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
