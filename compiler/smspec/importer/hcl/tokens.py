"""The tokens of an HCL file. A quoted string or heredoc is one token with its whole text."""

from __future__ import annotations

import re
from typing import Literal

from smspec.source.frozen import dataclass

Kind = Literal["name", "number", "string", "heredoc", "sign", "newline", "end"]

_PLAIN = re.compile(
    r"(?P<space>[ \t\r]+|(?:\#|//)[^\n]*|/\*.*?\*/)|(?P<newline>\n)|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<name>[^\W\d][\w-]*)|(?P<sign>==|!=|<=|>=|&&|\|\||=>|\.\.\.|[{}\[\]()=.,:?!<>+*/%-])",
    re.DOTALL,
)
_HEREDOC = re.compile(r"<<(?P<indented>-?)(?P<word>[^\W\d][\w-]*)\r?\n")
_MOST = 300_000


class NotHcl(Exception):
    """A text that is not HCL, or too large."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token; ``begin`` and ``end`` are positions in the text."""

    kind: Kind
    text: str
    begin: int
    end: int


def tokens_of(text: str) -> list[Token]:
    """Return the tokens; raise `NotHcl`."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        kind: Kind
        if text[at] == '"':
            end, kind = _string_end(text, at), "string"
        elif heredoc := _HEREDOC.match(text, at):
            end, kind = _heredoc_end(text, heredoc), "heredoc"
        else:
            match = _PLAIN.match(text, at)
            if match is None:
                raise NotHcl(f"unexpected character {text[at]!r}")
            end = match.end()
            if match.lastgroup == "space":
                at = end
                continue
            kind = match.lastgroup  # type: ignore[assignment]
        found.append(Token(kind, text[at:end], at, end))
        if len(found) > _MOST:
            raise NotHcl("too large")
        at = end
    return [*found, Token("end", "", at, at)]


def _string_end(text: str, at: int) -> int:
    """Return the end of a quoted string, after its interpolations, which may contain strings."""
    stack = ['"']
    at += 1
    while at < len(text):
        if stack[-1] == '"':
            if text[at] == "\\":
                at += 1
            elif text.startswith(("$${", "%%{"), at):
                at += 2
            elif text.startswith(("${", "%{"), at):
                stack.append("{")
                at += 1
            elif text[at] == '"':
                stack.pop()
                if not stack:
                    return at + 1
            elif text[at] == "\n":
                raise NotHcl("a string without an end")
        elif text[at] in '"{':
            stack.append(text[at])
        elif text[at] == "}":
            stack.pop()
        if len(stack) > 100:
            raise NotHcl("nested too deep")
        at += 1
    raise NotHcl("a string without an end")


def _heredoc_end(text: str, begin: re.Match[str]) -> int:
    end = re.compile(rf"^[ \t]*{re.escape(begin['word'])}[ \t\r]*$", re.MULTILINE).search(text, begin.end())
    if end is None:
        raise NotHcl("a heredoc without an end")
    return end.end()
