"""Errors in the text of a module, as this Python reports them, and whether each holds for the Python of an image."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator

from smspec.script.parsing import tree_or_error
from smspec.script.reach import SyntaxFault, Version
from smspec.source import SourceText, Span

HOST: Version = sys.version_info[:2]

_DEEPEST_FINALLY = 5
"""The compiler writes a `finally` block at each way out of it: nested ones double the code at each level."""

_F_STRING = r"\b[rR]?[fF][rR]?[\"']"
_ALWAYS = ("Missing parentheses in call to 'print'", "Missing parentheses in call to 'exec'")
_WITHOUT_F_STRINGS = (
    "unmatched '",
    "closing parenthesis '",
    "unterminated string literal",
    "unterminated triple-quoted",
)
_NEVER_CLOSED = r"'[\[({]' was never closed"
_OF_THE_COMPILER = (
    "'return' outside function",
    "'break' outside loop",
    "'continue' not properly in loop",
    "duplicate argument ",
    "no binding for nonlocal ",
    "nonlocal declaration not allowed at module level",
    "import * only allowed at module level",
)
_OF_THE_PARSER = ("expected ':'", "expected an indented block after")
"""Reported where a statement begins that no Python accepts, unless a new construct is in the same line."""

_NEWER = r"^[ \t]*class[ \t]+\w+[ \t]*\[|\b[tT][rR]?[\"']|\b[rR][tT][\"']"
_OF_THIS_MACHINE = ("Exceeds the limit", "too many")
"""Limits differ between versions, and are never those of real scripts."""


def broken_syntax(text: SourceText, base: Version | None) -> SyntaxFault | None:
    """Return the error in a module that the Python ``base`` reports too; None if there is none, or that is unknown.

    A Python that is older than the one of the image, or one of unknown age, proves only what no Python 3 accepts.
    """
    found = tree_or_error(text)
    error = _compile_error(found) if isinstance(found, ast.Module) else found
    if error is None or error.msg is None or error.msg.startswith(_OF_THIS_MACHINE):
        return None
    is_universal = _is_universal(error, text.text)
    if not is_universal and (base is None or base > HOST):
        return None
    return SyntaxFault(reason=_reason(error), place=_place(error, text), is_universal=is_universal)


def undecodable(name: str, content: bytes) -> SyntaxFault | None:
    """Return the error in a file that is not UTF-8; None if it declares its encoding."""
    if len(content) > 1 << 20 or re.match(rb"(?:[^\n]*\n)?[ \t\f]*#[^\n]*coding[:=]", content):
        return None
    line = content.count(b"\n") + 1
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    else:
        return None
    return SyntaxFault(reason="it is not UTF-8", place=Span(name, line, 1, line, 1), is_universal=True)


def _compile_error(tree: ast.Module) -> SyntaxError | None:
    if _finally_depth(tree) > _DEEPEST_FINALLY:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(tree, "<script>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError, OverflowError):
        return None
    return None


def _finally_depth(tree: ast.Module) -> int:
    """Return how deep `finally` blocks are nested."""
    deepest = 0
    rest: list[tuple[ast.AST, int]] = [(tree, 0)]
    while rest:
        node, depth = rest.pop()
        depth += bool(getattr(node, "finalbody", None))
        deepest = max(deepest, depth)
        rest.extend((child, depth) for child in _statements(node))
    return deepest


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        found = getattr(node, field, None)
        if isinstance(found, list):
            yield from found


def _is_universal(error: SyntaxError, text: str) -> bool:
    message = error.msg
    if message.startswith((*_ALWAYS, *_OF_THE_COMPILER)):
        return True
    if message.startswith(_OF_THE_PARSER) and _is_old(_line(error, text)):
        return True
    # An older Python ends a string at a quote that newer ones read as part of an expression in it.
    if re.search(_F_STRING, text):
        return False
    return (
        isinstance(error, IndentationError)
        or message.startswith(_WITHOUT_F_STRINGS)
        or re.match(_NEVER_CLOSED, message) is not None
    )


def _is_old(line: str) -> bool:
    """Return whether a line has no construct that an older Python rejects with the same messages."""
    return re.search(_F_STRING, line) is None and re.search(_NEWER, line) is None


def _line(error: SyntaxError, text: str) -> str:
    lines = text.split("\n")
    return lines[min(max(error.lineno or 1, 1), len(lines)) - 1]


def _reason(error: SyntaxError) -> str:
    """Return the message of Python as the end of a sentence."""
    return error.msg.split(". Did you mean", 1)[0].rstrip(".?!")


def _place(error: SyntaxError, text: SourceText) -> Span:
    lines = text.text.split("\n")
    line = min(max(error.lineno or 1, 1), len(lines))
    column = min(max(error.offset or 1, 1), len(lines[line - 1]) + 1)
    return Span(text.name, line, column, line, column + 1)
