"""Errors in the text of a module for the Python of an image: what this one reports, and what that one is too old for.

`ast.parse` with ``feature_version`` is not used: it rejects what old versions accept, and accepts what they reject.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator

from smspec.script.reach import NewSyntax, SyntaxFault, Version
from smspec.script.script_files import nodes_of, tree_or_error
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

_WITH_BRACKET = r"\bwith\s*\("
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_Found = tuple[str, Version, ast.AST]

_BY_KIND: dict[str, tuple[str, Version]] = {
    "Match": ("`match`", (3, 10)),
    "TryStar": ("`except*`", (3, 11)),
    "TypeAlias": ("`type`", (3, 12)),
}


def broken_syntax(text: SourceText, base: Version | None) -> SyntaxFault | None:
    """Return the error in a module that the Python ``base`` reports too; None if there is none, or that is unknown.

    A Python that is older than the one of the image, or one of unknown age, proves only what no Python 3 accepts.
    """
    found = tree_or_error(text)
    error = _compile_error(found) if isinstance(found, ast.Module) else found
    if error is None or error.msg is None or error.msg.startswith(_OF_THIS_MACHINE):
        return None
    if (base is None or base > HOST) and not _is_universal(error, text.text):
        return None
    return SyntaxFault(reason=_reason(error), place=_place(error, text))


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
    return SyntaxFault(reason="it is not UTF-8", place=Span(name, line, 1, line, 1))


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


def new_syntax(text: SourceText, tree: ast.Module, base: Version) -> list[NewSyntax]:
    """Return the constructs of a module that exist since a version after ``base``, in order, the first of each kind."""
    first: dict[str, NewSyntax] = {}
    lines = text.text.split("\n")
    for construct, since, node in _constructs(tree, text.text, lines, base):
        if since > base and construct not in first:
            place = _construct_place(node, text, lines)
            first[construct] = NewSyntax(construct=construct, since=since, place=place)
    return sorted(first.values(), key=lambda found: (found.place.line, found.place.column))


def _constructs(tree: ast.Module, text: str, lines: list[str], base: Version) -> Iterator[_Found]:
    has_brackets = base < (3, 9) and re.search(_WITH_BRACKET, text) is not None
    is_before_701 = base < (3, 12) <= sys.version_info
    for node in nodes_of(tree):
        kind = type(node).__name__
        if kind in _BY_KIND:
            yield (*_BY_KIND[kind], node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _of_decorators(node)
        if getattr(node, "type_params", None):
            yield from _of_parameters(node)
        elif isinstance(node, ast.Subscript):
            yield from _of_index(node, lines)
        elif isinstance(node, ast.arg) and isinstance(node.annotation, ast.Starred):
            yield "a starred annotation", (3, 11), node.annotation
        elif isinstance(node, ast.Set):
            bare = (item for item in node.elts if isinstance(item, ast.NamedExpr) and _is_bare(item, lines, "{,"))
            yield from (("`:=` in a set without parentheses", (3, 9), item) for item in bare)
        elif isinstance(node, ast.SetComp) and isinstance(node.elt, ast.NamedExpr) and _is_bare(node.elt, lines, "{"):
            yield "`:=` in a set without parentheses", (3, 9), node.elt
        elif isinstance(node, ast.For | ast.AsyncFor) and _is_bare_star(node.iter):
            yield "a starred item in `for` without parentheses", (3, 9), node.iter
        if isinstance(node, _COMPREHENSIONS):
            yield from _of_comprehensions(node)
        if has_brackets and isinstance(node, ast.With | ast.AsyncWith) and _has_bracket(node, lines):
            yield "`with` and `as` in parentheses", (3, 9), node
        if is_before_701 and isinstance(node, ast.JoinedStr) and is_new_string(node, lines):
            yield "a quote, backslash, comment, or line break inside an f-string expression", (3, 12), node


def _of_decorators(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[_Found]:
    for decorator in node.decorator_list:
        inner: ast.expr = decorator.func if isinstance(decorator, ast.Call) else decorator
        while isinstance(inner, ast.Attribute):
            inner = inner.value
        if not isinstance(inner, ast.Name):
            yield "a decorator other than a name or a call of one", (3, 9), decorator


def _of_parameters(node: ast.AST) -> Iterator[_Found]:
    yield "a type parameter", (3, 12), node
    for parameter in getattr(node, "type_params", ()):
        if getattr(parameter, "default_value", None) is not None:
            yield "a default of a type parameter", (3, 13), parameter


def _of_index(node: ast.Subscript, lines: list[str]) -> Iterator[_Found]:
    index = node.slice
    if _is_bare_star(index):
        yield "a starred index", (3, 11), index
    items = index.elts if isinstance(index, ast.Tuple) and _begins_with(index, index.elts[:1]) else [index]
    for item in items:
        if isinstance(item, ast.NamedExpr) and _is_bare(item, lines, "[,"):
            yield "`:=` in an index without parentheses", (3, 10), item


def _of_comprehensions(outer: ast.expr) -> Iterator[_Found]:
    """Yield the asynchronous comprehensions that run in the scope of another comprehension."""
    assert isinstance(outer, _COMPREHENSIONS)
    rest: list[ast.AST] = [part for part in ast.iter_child_nodes(outer) if not isinstance(part, ast.comprehension)]
    for position, generator in enumerate(outer.generators):
        rest += generator.ifs if position == 0 else [generator.iter, *generator.ifs]
    while rest:
        node = rest.pop()
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, _COMPREHENSIONS):
            if not isinstance(node, ast.GeneratorExp) and any(one.is_async for one in node.generators):
                yield "an asynchronous comprehension inside another comprehension", (3, 11), node
            rest.append(node.generators[0].iter)
        else:
            rest.extend(ast.iter_child_nodes(node))


def _is_bare_star(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Tuple)
        and any(isinstance(item, ast.Starred) for item in node.elts)
        and _begins_with(node, node.elts[:1])
    )


def _begins_with(node: ast.expr, first: list[ast.expr]) -> bool:
    """Return whether a tuple has no parentheses: it begins where its first item begins."""
    return bool(first) and (node.lineno, node.col_offset) == (first[0].lineno, first[0].col_offset)


def _is_bare(node: ast.expr, lines: list[str], openers: str) -> bool:
    """Return whether an expression directly follows one of ``openers`` in its line."""
    before = lines[node.lineno - 1].encode()[: node.col_offset].decode(errors="replace").rstrip()
    return before[-1:] in tuple(openers)


def _has_bracket(node: ast.With | ast.AsyncWith, lines: list[str]) -> bool:
    """Return whether an `as` is inside the parentheses around all items of a `with`."""
    import io
    import tokenize

    rest = "\n".join(lines[node.lineno - 1 :]).encode()[node.col_offset :].decode(errors="replace")
    depth, is_inside = 0, False
    try:
        for token in tokenize.generate_tokens(io.StringIO(rest).readline):
            if token.string in ("with", "async") and depth == 0 and not is_inside:
                continue
            if not is_inside and token.string != "(":
                return False
            is_inside = True
            if token.type == tokenize.OP:
                depth += (token.string in "([{") - (token.string in ")]}")
            elif token.string == "as" and depth == 1:
                return True
            if depth == 0:
                return False
    except (tokenize.TokenError, SyntaxError):
        return False
    return False


def _construct_place(node: ast.AST, text: SourceText, lines: list[str]) -> Span:
    line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    column = 1 + len(lines[line - 1].encode()[:offset].decode(errors="replace"))
    return Span(text.name, line, column, line, column + 1)


def is_new_string(node: ast.JoinedStr, lines: list[str]) -> bool:
    """Return whether an expression in an f-string, or a string next to it, has what older versions reject (PEP 701)."""
    import tokenize  # imported late, as below: few images have a Python before 3.12

    first, last = node.lineno - 1, node.end_lineno or node.lineno
    text = "\n".join(lines[first:last])
    offset = len(lines[first].encode()[: node.col_offset].decode(errors="replace"))
    end = len(lines[last - 1].encode()) - (node.end_col_offset or 0)
    text = text[offset : len(text.encode()[: len(text.encode()) - end].decode(errors="replace"))]
    try:
        return _has_new_expression(f"({text})\n")
    except (tokenize.TokenError, SyntaxError, IndexError):
        return False


def _has_new_expression(text: str) -> bool:
    import io
    import tokenize

    start, middle, end = (getattr(tokenize, f"FSTRING_{part}", -1) for part in ("START", "MIDDLE", "END"))
    quotes: list[str] = []
    before = (1, 0)
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        between = _between(lines, before, token.start)
        before = token.end
        if quotes and token.type not in (middle, end) and "\\" in between:
            return True
        if token.type == start:
            quote = token.string.lstrip("fFrR")
            if _clashes(quote, quotes):
                return True
            quotes.append(quote)
        elif not quotes:
            continue
        elif token.type == end:
            quotes.pop()
        elif token.type == middle:
            if len(quotes) > 1 and ("\\" in token.string or _clashes(token.string, quotes[:-1])):
                return True
        elif token.type == tokenize.COMMENT:
            return True
        elif token.type in (tokenize.NL, tokenize.NEWLINE):
            if any(len(quote) == 1 for quote in quotes):
                return True
        elif token.type == tokenize.STRING and ("\\" in token.string or _clashes(token.string, quotes)):
            return True
    return False


def _clashes(text: str, quotes: list[str]) -> bool:
    """Return whether a text ends an f-string around it, for a Python that looks for the next quote."""
    return any(quote in text for quote in quotes)


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    return "\n".join([lines[start[0] - 1][start[1] :], *lines[start[0] : end[0] - 1], lines[end[0] - 1][: end[1]]])
