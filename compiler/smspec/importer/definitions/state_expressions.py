"""Expressions of Step Functions, as texts in which a mark stands for what only an execution has.

https://docs.aws.amazon.com/step-functions/latest/dg/intrinsic-functions.html and transforming-data.html there.
"""

from __future__ import annotations

import re

from smspec.importer.definitions.variables import DefinitionVariables

_FORMAT = re.compile(r"\s*States\.Format\s*\((?P<arguments>.*)\)\s*", re.DOTALL)
_ARGUMENT = re.compile(r"""\s*(?:'(?P<text>(?:[^'\\]|\\.)*)'|(?P<path>[^',()]+))\s*(?:,|\Z)""", re.DOTALL)
_PIECE = re.compile(
    r"""\s*(?:'(?P<one>(?:[^'\\]|\\.)*)'|"(?P<two>(?:[^"\\]|\\.)*)"|\$string\(\s*(?P<converted>[\w.$]+)\s*\)|(?P<path>[\w.$]+))
    \s*(?:&|\Z)""",
    re.VERBOSE | re.DOTALL,
)
_LONGEST = 4_000


def of_json_path(expression: str, variables: DefinitionVariables) -> str:
    """Return the text of a member whose name ends in ``.$``: the literals of `States.Format` are known."""
    call = _FORMAT.fullmatch(expression) if len(expression) <= _LONGEST else None
    if call is not None:
        arguments = _arguments(call["arguments"])
        if arguments and arguments[0][0]:
            return _formatted(arguments, variables) or _path(expression, variables)
    return _path(expression, variables)


def of_jsonata(expression: str, variables: DefinitionVariables) -> str:
    """Return the text of a string between ``{%`` and ``%}``: of a concatenation, the literals are known."""
    inner = expression[2:-2].strip()
    found, at = "", 0
    while at < len(inner) <= _LONGEST:
        piece = _PIECE.match(inner, at)
        if piece is None or (piece.end() == len(inner) and piece[0].rstrip().endswith("&")):
            return _path(inner, variables)
        literal = piece["one"] if piece["one"] is not None else piece["two"]
        if literal is not None:
            found += _unescaped(literal)
        else:
            found += _path(piece["path"] or piece["converted"], variables)
        at = piece.end()
    return found if inner and len(inner) <= _LONGEST else _path(inner, variables)


def _path(expression: str, variables: DefinitionVariables) -> str:
    """Return the mark of a path, named after its last two steps: the first ones are usually the same."""
    words = re.findall(r"\w+", expression.replace("$states.input", ""))
    return variables.mark(expression, name="_".join(words[-2:]))


def _arguments(text: str) -> list[tuple[bool, str]]:
    """Return whether each argument is a literal, and its text; nothing if an argument is a call."""
    found, at = [], 0
    while at < len(text):
        argument = _ARGUMENT.match(text, at)
        if argument is None:
            return []
        is_literal = argument["text"] is not None
        found.append((is_literal, _unescaped(argument["text"]) if is_literal else argument["path"].strip()))
        at = argument.end()
    return found


def _formatted(arguments: list[tuple[bool, str]], variables: DefinitionVariables) -> str | None:
    pieces = arguments[0][1].split("{}")
    if len(pieces) != len(arguments):
        return None
    found = pieces[0]
    for (is_literal, text), piece in zip(arguments[1:], pieces[1:], strict=True):
        found += (text if is_literal else _path(text, variables)) + piece
    return found


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
