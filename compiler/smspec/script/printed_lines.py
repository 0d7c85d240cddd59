"""The lines that a source prints, as templates: known text, and places for values."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from smspec.script.script_files import nodes_of, parsed
from smspec.source import SourceText, Span
from smspec.source.frozen import dataclass

_PRINTING = frozenset(
    {"critical", "debug", "echo", "error", "exception", "info", "log", "log_message", "msg", "print", "warn", "warning"}
    | {"write"}
)
"""Names of functions and methods that print their arguments, whatever they belong to."""

_PERCENT = re.compile(r"%(?:\(\w*\))?[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?([diouxXeEfFgGcrsa%])")
_NUMBERS = (0.1234, 12)
_SEPARATORS = " \t\n:=|;[](){}<>-_/'\""
LONGEST = 300
"""Characters of a printed line that are compared with a regular expression."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The place of a value; ``format``: the format specification, if it is known."""

    format: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedLine:
    """``parts`` in order. ``is_printed``: the script prints it, otherwise it may only do so."""

    parts: tuple[str | Gap, ...]
    place: Span
    is_printed: bool

    def before_values(self) -> Iterator[str]:
        """Yield the text directly before each value, from the value before it."""
        text = ""
        for part in self.parts:
            if isinstance(part, Gap):
                yield text
                text = ""
            else:
                text += part

    def renderings(self, word: str) -> Iterator[str]:
        """Yield what may be printed, with numbers and with ``word`` for one of the values."""
        for number in _NUMBERS:
            yield "".join(part if isinstance(part, str) else _formatted(number, part) for part in self.parts)[:LONGEST]
        gaps = [index for index, part in enumerate(self.parts) if isinstance(part, Gap)]
        for gap, before in zip(gaps[:-1], self.before_values(), strict=False):
            if not word.lower().startswith(before.split(",")[-1].strip(_SEPARATORS).lower()):
                continue  # `epoch 3: 0.5` names an epoch, not a metric
            texts = (
                part if isinstance(part, str) else word if index == gap else _formatted(_NUMBERS[0], part)
                for index, part in enumerate(self.parts)
            )
            yield "".join(texts)[:LONGEST]


def printed_lines(text: SourceText) -> tuple[list[PrintedLine], list[str]] | None:
    """Return all templates of a module, and all strings in it; None if it cannot be parsed."""
    tree = parsed(text)
    if tree is None:
        return None
    calls = [node for node in nodes_of(tree) if isinstance(node, ast.Call) and _name(node.func) in _PRINTING]
    printed = {id(node): node for call in calls for node in call.args}
    names = {node.id for node in printed.values() if isinstance(node, ast.Name)}
    rows = text.text.split("\n")
    lines = [_line(text, rows, call, tuple(_of_call(call)), is_printed=True) for call in calls]
    strings = []
    for node in nodes_of(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.append(node.value)
        elif isinstance(node, ast.JoinedStr | ast.BinOp | ast.Call) and id(node) not in printed:
            parts = tuple(_of(node))
            if any(isinstance(part, str) for part in parts):
                lines.append(_line(text, rows, node, parts, is_printed=False))
    for node in nodes_of(tree):
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id in names for one in node.targets):
            lines.append(_line(text, rows, node, tuple(_of(node.value)), is_printed=True))
    return lines, strings


def _line(
    text: SourceText, rows: list[str], node: ast.expr | ast.stmt, parts: tuple[str | Gap, ...], *, is_printed: bool
) -> PrintedLine:
    last = node.end_lineno or node.lineno
    place = Span(
        text.name,
        node.lineno,
        _column(rows[node.lineno - 1], node.col_offset),
        last,
        _column(rows[last - 1], node.end_col_offset or 0),
    )
    return PrintedLine(parts=parts, place=place, is_printed=is_printed)


def _column(line: str, offset: int) -> int:
    """Return the column of a byte offset in a UTF-8 line, counted from 1."""
    return 1 + (offset if line.isascii() else len(line.encode()[:offset].decode(errors="replace")))


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _of_call(call: ast.Call) -> Iterator[str | Gap]:
    """Yield the parts of what a call prints: `print` joins its arguments, a logger formats the first."""
    if isinstance(call.func, ast.Name):
        separator = next((word.value for word in call.keywords if word.arg == "sep"), ast.Constant(value=" "))
        for index, argument in enumerate(call.args):
            yield from _of(separator) if index else ()
            yield from _of(argument)
        return
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str) and len(call.args) > 1:
        yield from _of_percent(first.value)
    elif first is not None:
        yield from _of(first)


def _of(node: ast.expr) -> Iterator[str | Gap]:
    """Yield the parts of an expression."""
    match node:
        case ast.Constant():
            yield str(node.value)
        case ast.JoinedStr():
            for value in node.values:
                yield from _of(value)
        case ast.FormattedValue(format_spec=None):
            yield Gap()
        case ast.FormattedValue(format_spec=ast.JoinedStr(values=[ast.Constant(value=str(spec))])):
            yield Gap(spec)
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str(text))):
            yield from _of_percent(text)
        case ast.BinOp(op=ast.Add()):
            yield from _of(node.left)
            yield from _of(node.right)
        case ast.Call(func=ast.Attribute(attr="format", value=ast.Constant(value=str(text)))):
            yield from _of_format(text)
        case _:
            yield Gap()


def _of_percent(text: str) -> Iterator[str | Gap]:
    start = 0
    for match in _PERCENT.finditer(text):
        yield text[start : match.start()]
        yield "%" if match[1] == "%" else Gap()
        start = match.end()
    yield text[start:]


def _of_format(text: str) -> Iterator[str | Gap]:
    from string import Formatter  # imported late: few scripts use it

    try:
        for literal, name, spec, _ in Formatter().parse(text):
            yield literal
            if name is not None:
                yield Gap("" if spec is None or "{" in spec else spec)
    except ValueError:
        yield Gap()


def _formatted(number: float, gap: Gap) -> str:
    """Return a number in the format of a gap; one with a very large width as it is."""
    if re.search(r"\d{3}", gap.format):
        return str(number)
    for value in (number, round(number), str(number)):
        try:
            return format(value, gap.format)
        except (ValueError, TypeError):
            continue
    return str(number)
