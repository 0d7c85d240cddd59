"""Parse HCL to bodies of attributes and blocks. An expression that only Terraform can evaluate is kept as its text."""

from __future__ import annotations

import json
import re
from typing import Union

from smspec.importer.hcl.tokens import NotHcl, Token, tokens_of
from smspec.source.frozen import dataclass, field

_MOST_DEPTH = 60
_OPERATORS = frozenset(("==", "!=", "<=", ">=", "&&", "||", "?", "<", ">", "+", "-", "*", "/", "%"))
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


@dataclass(frozen=True, slots=True)
class Literal:
    value: object


@dataclass(frozen=True, slots=True)
class Template:
    """A string with interpolations."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Entries:
    entries: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A name and the steps from it: ``var.sizes["a"].count``."""

    steps: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple[Expression, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Unread:
    """An expression that is not evaluated: a condition, an operation, or a loop."""

    text: str


Expression = Union[Literal, Template, Listed, Entries, Reference, Call, Unread]


@dataclass(frozen=True, slots=True)
class Body:
    attributes: dict[str, Expression] = field(default_factory=dict)
    blocks: list[tuple[str, tuple[str, ...], Body]] = field(default_factory=list)


def parse(text: str) -> Body:
    """Return the body of a file; raise `NotHcl`."""
    return _Parser(text).body("end", 0)


class _Parser:
    def __init__(self, text: str, depth: int = 0) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self._at = 0
        self._depth = depth

    def body(self, end: str, depth: int) -> Body:
        body = Body()
        while True:
            self._skip_lines()
            token = self._take()
            if token.kind == "end" or token.text == end:
                if (token.kind == "end") != (end == "end"):
                    raise NotHcl("a block without an end")
                return body
            if token.kind != "name" or depth > _MOST_DEPTH:
                raise NotHcl(f"expected a name, found `{token.text[:20]}`")
            if self._is("="):
                self._at += 1
                body.attributes[token.text] = self.expression(depth)
            else:
                labels = []
                while self._peek().kind in ("string", "name"):
                    label = self._take()
                    labels.append(_unquoted(label.text) if label.kind == "string" else label.text)
                self._expect("{")
                body.blocks.append((token.text, tuple(labels), self.body("}", depth + 1)))

    def whole(self) -> Expression:
        """Return the only expression of the text."""
        self._skip_lines()
        found = self.expression(self._depth)
        self._skip_lines()
        if self._peek().kind != "end":
            raise NotHcl("text after an expression")
        return found

    def expression(self, depth: int) -> Expression:
        begin = self._peek().begin
        found = self._operand(depth)
        is_operation = False
        while self._peek().text in _OPERATORS and self._peek().kind == "sign":
            is_operation = True
            is_condition = self._take().text == "?"
            self._skip_lines()
            self.expression(depth + 1)
            if is_condition:
                self._skip_lines()
                self._expect(":")
                self._skip_lines()
                self.expression(depth + 1)
        return Unread(self._since(begin)) if is_operation else found

    def _operand(self, depth: int) -> Expression:
        if depth + self._depth > _MOST_DEPTH:
            raise NotHcl("nested too deep")
        token = self._take()
        begin = token.begin
        found: Expression
        if token.text in ("-", "!"):
            inner = self._operand(depth + 1)
            is_number = token.text == "-" and isinstance(inner, Literal) and isinstance(inner.value, int | float)
            return Literal(-inner.value) if is_number else Unread(self._since(begin))  # type: ignore
        if token.kind == "number":
            return Literal(json.loads(token.text.lstrip("0") or "0") if token.text.isdigit() else float(token.text))
        if token.kind == "string":
            found = self._template(token.text[1:-1], is_quoted=True)
        elif token.kind == "heredoc":
            found = self._heredoc(token.text)
        elif token.text == "(":
            self._skip_lines()
            found = self.expression(depth + 1)
            self._skip_lines()
            self._expect(")")
        elif token.text == "[":
            found = self._list(depth, begin)
        elif token.text == "{":
            found = self._object(depth, begin)
        elif token.kind == "name":
            found = self._named(token, depth)
        else:
            raise NotHcl(f"unexpected `{token.text[:20]}`")
        if not isinstance(found, Reference) and (self._is(".") or self._is("[")):
            self._steps(depth)
            return Unread(self._since(begin))
        return found

    def _named(self, token: Token, depth: int) -> Expression:
        if token.text in ("true", "false", "null"):
            return Literal({"true": True, "false": False, "null": None}[token.text])
        if self._is("("):
            self._at += 1
            arguments = self._items(")", depth)
            return Call(token.text, tuple(arguments), self._since(token.begin))
        steps = self._steps(depth)
        text = self._since(token.begin)
        return Unread(text) if steps is None else Reference((token.text, *steps), text)

    def _steps(self, depth: int) -> list[str] | None:
        """Take the attributes and indexes that follow; None if one is not constant."""
        steps: list[str] = []
        is_constant = True
        while True:
            if self._is("."):
                self._at += 1
                step = self._take()
                is_constant = is_constant and step.kind in ("name", "number")
                steps.append(step.text)
            elif self._is("["):
                self._at += 1
                self._skip_lines()
                if self._is("*"):
                    self._at += 1
                    is_constant = False
                else:
                    index = self.expression(depth + 1)
                    is_constant = is_constant and isinstance(index, Literal)
                    steps.append(str(index.value) if isinstance(index, Literal) else "")
                self._skip_lines()
                self._expect("]")
            else:
                return steps if is_constant else None

    def _list(self, depth: int, begin: int) -> Expression:
        self._skip_lines()
        if self._peek().text == "for":
            return self._loop("[", "]", begin)
        return Listed(tuple(self._items("]", depth)))

    def _items(self, end: str, depth: int) -> list[Expression]:
        found: list[Expression] = []
        while True:
            self._skip_lines()
            if self._is(end):
                self._at += 1
                return found
            found.append(self.expression(depth + 1))
            self._skip_lines()
            if self._is("..."):
                self._at += 1
            elif not self._is(end):
                self._expect(",")

    def _object(self, depth: int, begin: int) -> Expression:
        self._skip_lines()
        if self._peek().text == "for":
            return self._loop("{", "}", begin)
        entries: list[tuple[Expression, Expression]] = []
        while True:
            self._skip_lines()
            if self._is("}"):
                self._at += 1
                return Entries(tuple(entries))
            name = self.expression(depth + 1)
            if isinstance(name, Reference) and len(name.steps) == 1:
                name = Literal(name.steps[0])
            if not (self._is("=") or self._is(":")):
                raise NotHcl("expected `=`")
            self._at += 1
            self._skip_lines()
            entries.append((name, self.expression(depth + 1)))
            if self._is(","):
                self._at += 1

    def _loop(self, opening: str, closing: str, begin: int) -> Expression:
        count = 1
        while count:
            token = self._take()
            if token.kind == "end":
                raise NotHcl("a loop without an end")
            count += (token.text == opening) - (token.text == closing)
        return Unread(self._since(begin))

    def _heredoc(self, text: str) -> Expression:
        first, *lines = text.split("\n")
        lines = lines[:-1]
        if first.startswith("<<-"):
            indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
            lines = [line[indent:] for line in lines]
        return self._template("".join(f"{line}\n" for line in lines), is_quoted=False)

    def _template(self, text: str, *, is_quoted: bool) -> Expression:
        parts: list[Expression] = []
        plain, at = "", 0
        while at < len(text):
            if text.startswith(("$${", "%%{"), at):
                plain += text[at] + "{"
                at += 3
            elif text.startswith("%{", at):
                return Unread(text[:200])
            elif text.startswith("${", at):
                end = _interpolation_end(text, at)
                parts += [Literal(plain), _Parser(text[at + 2 : end].strip("~"), self._depth + 5).whole()]
                plain, at = "", end + 1
            elif is_quoted and text[at] == "\\":
                escape = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL).match(text, at)
                if escape is None:
                    raise NotHcl("an escape without an end")
                code = escape[1] or escape[2]
                if code and int(code, 16) > 0x10FFFF:
                    raise NotHcl("an escape of no character")
                plain += chr(int(code, 16)) if code else _ESCAPES.get(escape[3], escape[0])
                at = escape.end()
            else:
                end = min((found for sign in "$%\\" if (found := text.find(sign, at + 1)) > 0), default=len(text))
                plain += text[at:end]
                at = end
        if not parts:
            return Literal(plain)
        return Template((*parts, Literal(plain)))

    def _since(self, begin: int) -> str:
        return self._text[begin : self._tokens[self._at - 1].end]

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _is(self, sign: str) -> bool:
        return self._peek().kind == "sign" and self._peek().text == sign

    def _take(self) -> Token:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _expect(self, sign: str) -> None:
        if not self._is(sign):
            raise NotHcl(f"expected `{sign}`, found `{self._peek().text[:20]}`")
        self._at += 1

    def _skip_lines(self) -> None:
        while self._peek().kind == "newline":
            self._at += 1


def _interpolation_end(text: str, at: int) -> int:
    count, inside, at = 1, False, at + 2
    while at < len(text):
        if text[at] == "\\" and inside:
            at += 1
        elif text[at] == '"':
            inside = not inside
        elif not inside:
            count += (text[at] == "{") - (text[at] == "}")
            if not count:
                return at
        at += 1
    raise NotHcl("an interpolation without an end")


def _unquoted(text: str) -> str:
    found = _Parser("")._template(text[1:-1], is_quoted=True)
    return str(found.value) if isinstance(found, Literal) else text[1:-1]
