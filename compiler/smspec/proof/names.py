"""Whether code may bind a name somewhere: what a NameError here says about another run."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator

_ANY_NAME = re.compile(r"\bglobals\(|(?<![.\w])exec\(|\bbuiltins\b|__builtins__|\bsys\.modules\b")
"""A file with one of these may bind any name of its own."""

_ANY_ATTRIBUTE = re.compile(r"(?<![.\w])(?:setattr|exec)\(|__dict__|\bvars\(|\bbuiltins\b|__builtins__")
"""A file with one of these and a name may bind it in another module."""


def may_be_bound(name: str, files: Iterable[str], code: str, *, is_complete: bool = True) -> bool:
    """Return whether one of ``files``, or another file below ``code`` as its attribute, may bind a name.

    ``is_complete``: all packages of the job are installed, so that
    ``import *`` binds here what it binds there.
    """
    own = frozenset(map(os.path.realpath, files))
    for path in (*own, *(each for each in _modules(code) if each not in own)):
        text = _text(path)
        tree = None if text is None else _parsed(text)
        if text is None or tree is None:
            if path in own or (text is not None and name in text):
                return True
        elif path in own:
            is_elsewhere = _has_star(tree) and (not is_complete or _is_bound_below(name, code))
            if is_elsewhere or _ANY_NAME.search(text) or name in _bound(tree):
                return True
        elif name in text and (_ANY_ATTRIBUTE.search(text) or name in _attributes(tree)):
            return True
    return False


def files_of(module: str, code: str) -> tuple[str, ...]:
    """Return the files below ``code`` that an import of a module may find."""
    inside = os.path.join("", *module.split("."))
    ends = (f"{os.sep}{inside}.py", os.path.join(f"{os.sep}{inside}", "__init__.py"))
    return tuple(path for path in _modules(code) if path.endswith(ends))


def _modules(code: str) -> Iterator[str]:
    for directory, _, names in os.walk(code):
        yield from (os.path.realpath(os.path.join(directory, name)) for name in names if name.endswith(".py"))


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def _parsed(text: str) -> ast.Module | None:
    """Return the tree of a file; None if only a newer or older Python can read it."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _has_star(tree: ast.Module) -> bool:
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return any(alias.name == "*" for node in imports for alias in node.names)


def _is_bound_below(name: str, code: str) -> bool:
    trees = (_parsed(text) for path in _modules(code) for text in [_text(path)] if text is not None and name in text)
    return any(tree is None or name in _bound(tree) for tree in trees)


def _attributes(tree: ast.Module) -> set[str]:
    """Return the names that a file assigns as attributes, perhaps of another module."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in nodes if isinstance(node.ctx, ast.Store)}


def _bound(tree: ast.Module) -> set[str]:
    """Return every name that a file binds, in whichever scope."""
    found = _attributes(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name is not None:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest is not None:
            found.add(node.rest)
        elif isinstance(node, ast.Global):
            found.update(node.names)
    return found
