"""Whether a module may install packages when it runs: a string or a name in it is that of an installer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from smspec.script.parsing import nodes_of

# `camera-pip/video.mp4` does not run pip, `/usr/bin/pip` may.
_NAMED = re.compile(r"(?<![-\w])(?:pip3?|conda|mamba|uv|easy_install)(?![-/\w])")
_SHOWN_BY = frozenset(
    {"critical", "debug", "echo", "error", "exception", "exit", "fatal", "info", "log", "print", "require_version"}
    | {"warn", "warning"}
)
"""The last parts of functions that show their strings and run none."""

_TEXTS = frozenset({"description", "epilog", "help"})


def runs_an_installer(tree: ast.Module) -> bool:
    """Return whether a module names an installer in more than the texts that it shows, such as messages."""
    shown = {id(node) for node in _shown(tree)}
    for node in nodes_of(tree):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and id(node) not in shown and _NAMED.search(node.value):
                return True
        elif isinstance(node, ast.alias | ast.ImportFrom):
            name = node.name if isinstance(node, ast.alias) else node.module or ""
            if _NAMED.fullmatch(name.partition(".")[0]):
                return True
    return False


def _shown(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the strings that a module only shows: docstrings, messages, and descriptions of arguments."""
    for node in nodes_of(tree):
        match node:
            case ast.Expr(value=ast.Constant() as text):
                yield text
            case ast.Raise(exc=ast.Call(args=args)):
                yield from _strings(args)
            case ast.Assert(msg=ast.expr() as text):
                yield from _strings([text])
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args) if name in _SHOWN_BY:
                yield from _strings(args)
            case ast.keyword(arg=str() as name, value=text) if name in _TEXTS:
                yield from _strings([text])
            case ast.Dict(keys=keys, values=values):
                for key, text in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value in _TEXTS:
                        yield from _strings([text])


def _strings(nodes: list[ast.expr]) -> Iterator[ast.expr]:
    """Yield the constants that expressions consist of; calls in them may run what they get."""
    for node in nodes:
        match node:
            case ast.Constant():
                yield node
            case ast.JoinedStr(values=parts):
                yield from _strings(parts)
            case ast.BinOp(left=left, right=right):
                yield from _strings([left, right])
            case ast.Call(func=ast.Attribute(value=ast.Constant() as text, attr="format"), args=args):
                yield from _strings([text, *args])
