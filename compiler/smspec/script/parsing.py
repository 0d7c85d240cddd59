"""The syntax trees of scripts, each parsed once."""

from __future__ import annotations

import ast
import warnings
from functools import lru_cache
from typing import Union

from smspec.script.parse_limits import is_readable
from smspec.source import SourceText

MOST_TREES = 64
"""How many trees are kept: one script with its modules."""


@lru_cache(maxsize=MOST_TREES)
def tree_or_error(text: SourceText) -> Union[ast.Module, SyntaxError, None]:
    """Return the tree of a module, or why this Python cannot parse it; None if that would take too much memory."""
    if not is_readable(text.text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in strings, which are not relevant here
            return ast.parse(text.text)
    except SyntaxError as error:
        return error.with_traceback(None)
    except (ValueError, RecursionError, MemoryError):
        return None


def parsed(text: SourceText) -> ast.Module | None:
    """Return the tree of a module; None if this Python cannot parse it, or it would take too much memory."""
    found = tree_or_error(text)
    return found if isinstance(found, ast.Module) else None


@lru_cache(maxsize=MOST_TREES)
def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """Return the nodes that `ast.walk` yields, in its order: several checks look at all nodes of a module."""
    found = [tree]
    for node in found:  # it grows meanwhile
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found += [item for item in value if isinstance(item, ast.AST)]
    return found


def forget_trees() -> None:
    """Free the trees: they take many times the memory of the texts."""
    tree_or_error.cache_clear()
    nodes_of.cache_clear()
