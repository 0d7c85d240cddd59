"""The words of a shell script: quotes, expansions, substitutions, and here-documents, as a shell reads them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from smspec.script.shell import AndOrList, NotUnderstood, ShellWord

DEEPEST = 30
"""Levels of compound commands and substitutions: no author nests deeper."""

_BLANK = re.compile(r"(?:[ \t]|\\\n)+")
OPERATOR = re.compile(r"&&|\|\||;;&|;&|;;|\|&|[|&;()\n]")
SPECIAL = frozenset(" \t\n|&;()<>")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_ORDINARY = re.compile(r"[^ \t\n|&;()<>]*")
_PLAIN = re.compile(r"[^ \t\n|&;()<>\\'\"`$]+")
_OPEN = re.compile(r"[*?\[]|\{.*[,.].*\}|^~")
_BRACES = re.compile(r"\{(\d{1,6})\.\.(\d{1,6})\}")
_SEQUENCE = re.compile(r"\$\(seq (?:(\d{1,6}) )?(\d{1,6})\)")
_NAMED = re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])?")


class WordReader(ABC):
    """One text and a position in it; ``line`` is the number of its first line."""

    def __init__(self, text: str, line: int = 1, depth: int = 0) -> None:
        if depth > DEEPEST:
            raise NotUnderstood
        self._text, self._at, self._first, self._depth = text, 0, line, depth
        self._documents: list[tuple[str, bool, bool]] = []

    @abstractmethod
    def items(self, ends: tuple[str, ...]) -> tuple[AndOrList, ...]:
        """Return the lists up to one of some words or operators, which stays."""

    @property
    def _line(self) -> int:
        return self._first + self._text.count("\n", 0, self._at)

    def _rest(self) -> bool:
        return self._at < len(self._text)

    def _skip_blanks(self) -> None:
        if match := _BLANK.match(self._text, self._at):
            self._at = match.end()
        if self._text.startswith("#", self._at):
            end = self._text.find("\n", self._at)
            self._at = len(self._text) if end < 0 else end

    def peek(self) -> str:
        """Return the next operator, or the next word as it is written; empty at the end."""
        self._skip_blanks()
        if match := OPERATOR.match(self._text, self._at):
            return match[0]
        return self._text[self._at : self._word_end()]

    def _word_end(self) -> int:
        match = _ORDINARY.match(self._text, self._at)
        return match.end() if match else self._at

    def _take(self, expected: str) -> None:
        if self.peek() != expected:
            raise NotUnderstood
        self._at += len(expected)
        if expected == "\n":
            self._skip_documents()

    def _skip_lines(self) -> None:
        while self.peek() == "\n":
            self._take("\n")

    def _skip_documents(self) -> None:
        for end, strips, expands in self._documents:
            begin = self._at
            while True:
                if not self._rest():
                    raise NotUnderstood
                stop = self._text.find("\n", self._at)
                line = self._text[self._at :] if stop < 0 else self._text[self._at : stop]
                self._at = len(self._text) if stop < 0 else stop + 1
                if (line.lstrip("\t") if strips else line) == end:
                    break
            body = self._text[begin : self._at]
            if expands and ("$(" in body or "`" in body or "$?" in body):
                raise NotUnderstood
        self._documents = []

    def _word(self) -> ShellWord:
        """Return one word, with the scripts of its substitutions."""
        self._skip_blanks()
        begin = self._at
        value: list[str] | None = []
        scripts: list[tuple[AndOrList, ...]] = []
        if match := ASSIGNMENT.match(self._text, self._at):
            self._at = match.end()
            value = [match[0]]
            if self._text.startswith("(", self._at):
                self._array(scripts)
                value = None
        while self._rest():
            character = self._text[self._at]
            if self._text.startswith(("<(", ">("), self._at):
                self._at += 1
                self._inner("(", ")", [])
                value = None
            elif character in SPECIAL:
                break
            elif character == "'":
                end = self._text.find("'", self._at + 1)
                if end < 0:
                    raise NotUnderstood
                value = None if value is None else [*value, self._text[self._at + 1 : end]]
                self._at = end + 1
            elif character == '"':
                inner = self._quoted(scripts)
                value = None if value is None or inner is None else [*value, inner]
            elif character == "\\":
                escaped = self._text[self._at + 1 : self._at + 2]
                value = None if value is None else [*value, escaped.replace("\n", "")]
                self._at += 2
            elif character in "$`":
                self._expansion(scripts)
                value = None
            elif match := _PLAIN.match(self._text, self._at):
                plain = match[0]
                is_open = plain != "[" and _OPEN.search(plain)
                value = None if value is None or is_open else [*value, plain]
                self._at = match.end()
            else:
                raise NotUnderstood
        if self._at == begin:
            raise NotUnderstood
        text = self._text[begin : self._at]
        return ShellWord(text=text, value=None if value is None else "".join(value), scripts=tuple(scripts))

    def _array(self, scripts: list[tuple[AndOrList, ...]]) -> None:
        self._take("(")
        while True:
            self._skip_lines()
            if self.peek() == ")":
                break
            scripts += self._word().scripts
        self._at += 1

    def _quoted(self, scripts: list[tuple[AndOrList, ...]]) -> str | None:
        """Return the content of double quotes, None if it has an expansion."""
        begin = self._at = self._at + 1
        is_literal = True
        while self._rest():
            character = self._text[self._at]
            if character == '"':
                content = self._text[begin : self._at]
                self._at += 1
                return re.sub(r'\\([$`"\\\n])', r"\1", content) if is_literal else None
            if character == "\\":
                self._at += 2
            elif character in "$`":
                is_literal = False
                self._expansion(scripts, is_quoted=True)
            else:
                self._at += 1
        raise NotUnderstood

    def _expansion(self, scripts: list[tuple[AndOrList, ...]], *, is_quoted: bool = False) -> None:
        """Go past an expansion: of a parameter, of arithmetic, of a command, or a quote with a dollar."""
        text, at = self._text, self._at
        if text[at] == "`":
            end = at + 1
            while end < len(text) and text[end] != "`":
                end += 2 if text[end] == "\\" else 1
            if end >= len(text) or "\\" in text[at:end]:
                raise NotUnderstood
            reader = type(self)(text[at + 1 : end], self._line, self._depth + 1)
            scripts.append(reader.whole())
            self._at = end + 1
        elif text.startswith("$((", at):
            self._inner("((", "))", [])
        elif text.startswith("$(", at):
            self._at += 1
            self._inner("(", ")", scripts)
        elif text.startswith("${", at):
            self._parameter(scripts)
        elif text.startswith("$'", at) and not is_quoted:
            end = at + 2
            while end < len(text) and text[end] != "'":
                end += 2 if text[end] == "\\" else 1
            if end >= len(text):
                raise NotUnderstood
            self._at = end + 1
        elif text.startswith('$"', at) and not is_quoted:
            self._at += 1
            self._quoted(scripts)
        else:
            match = _NAMED.match(text, at)
            self._at = at + 1 if match is None else match.end()

    def _inner(self, begin: str, end: str, scripts: list[tuple[AndOrList, ...]]) -> None:
        """Read what is between brackets: a script, or arithmetic, which contains none."""
        if begin == "((":
            stop = self._text.find("))", self._at)
            inner = self._text[self._at + 3 : stop]
            if stop < 0 or "$(" in inner or "`" in inner or inner.count("(") != inner.count(")"):
                raise NotUnderstood
            self._at = stop + 2
            return
        self._at += 1
        reader = type(self)(self._text[self._at :], self._line, self._depth + 1)
        found = reader.whole(end)
        self._at += reader._at + 1
        scripts.append(found)

    def _parameter(self, scripts: list[tuple[AndOrList, ...]]) -> None:
        self._at += 2
        self._depth += 1
        if self._depth > DEEPEST:
            raise NotUnderstood
        while self._rest():
            character = self._text[self._at]
            if character == "}":
                self._at += 1
                self._depth -= 1
                return
            if character == "\\":
                self._at += 2
            elif character == "'":
                raise NotUnderstood  # shells differ in what it means here
            elif character == '"':
                self._quoted(scripts)
            elif character in "$`":
                self._expansion(scripts)
            else:
                self._at += 1
        raise NotUnderstood

    def whole(self, end: str = "") -> tuple[AndOrList, ...]:
        """Return the lists up to an operator, or to the end of the text."""
        items = self.items((end,) if end else ())
        if self.peek() != end or self._documents:
            raise NotUnderstood
        return items


def pass_counts(words: tuple[ShellWord, ...] | None, *, is_bash: bool) -> tuple[int, int]:
    """Return how often a loop runs at least and at most; three passes stand for more."""
    count = 0
    for word in words or ():
        between = _SEQUENCE.fullmatch(word.text) or (_BRACES.fullmatch(word.text) if is_bash else None)
        if word.value is not None:
            count += 1
        elif between is not None:
            count += max(0, int(between[2]) - int(between[1] or 1) + 1)
        else:
            return 0, 3
    return (0, 3) if words is None else (min(count, 3), min(count, 3))
