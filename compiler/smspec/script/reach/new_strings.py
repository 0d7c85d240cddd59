"""f-strings that only Python 3.12 and later accept (PEP 701). Their tokens exist since that version, too."""

from __future__ import annotations

import ast
import io
import tokenize

_START = getattr(tokenize, "FSTRING_START", -1)
_MIDDLE = getattr(tokenize, "FSTRING_MIDDLE", -1)
_END = getattr(tokenize, "FSTRING_END", -1)


def is_new_string(node: ast.JoinedStr, lines: list[str]) -> bool:
    """Return whether an expression in an f-string, or a string next to it, has what older versions reject."""
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
    quotes: list[str] = []
    before = (1, 0)
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        between = _between(lines, before, token.start)
        before = token.end
        if quotes and token.type not in (_MIDDLE, _END) and "\\" in between:
            return True
        if token.type == _START:
            quote = token.string.lstrip("fFrR")
            if _clashes(quote, quotes):
                return True
            quotes.append(quote)
        elif not quotes:
            continue
        elif token.type == _END:
            quotes.pop()
        elif token.type == _MIDDLE:
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
