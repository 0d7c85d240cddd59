"""Read a shell script: its commands with their operators, as a shell would parse them.

No value is computed. Aliases, `eval`, and `select` are not understood.
"""

from __future__ import annotations

import re

from smspec.script.shell import AndOrList, Command, Compound, NotUnderstood, Pipeline, ShellFunction, ShellWord, Simple
from smspec.script.shell.words import ASSIGNMENT, DEEPEST, OPERATOR, SPECIAL, WordReader

MOST_COMMANDS = 2_000

_REDIRECTION = re.compile(r"\d*(?:&>>|&>|<<<|<<-|<<|<&|>&|<>|>>|>\||<|>)|\{\w+\}[<>]")
_RESERVED = re.compile(r"if|then|elif|else|fi|do|done|case|esac|while|until|for|[{}!]|function|in")
_REFUSED = frozenset({"select", "coproc", "alias", "unalias", "eval"})


def shell_script(text: str) -> tuple[AndOrList, ...]:
    """Return the commands of a script. Raise `NotUnderstood`."""
    try:
        return _Reader(text).whole()
    except RecursionError:
        raise NotUnderstood from None


class _Reader(WordReader):
    """A recursive descent."""

    def __init__(self, text: str, line: int = 1, depth: int = 0) -> None:
        super().__init__(text, line, depth)
        self._count = 0

    def items(self, ends: tuple[str, ...]) -> tuple[AndOrList, ...]:
        """Return the lists up to one of some words or operators, which stays."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise NotUnderstood
        found: list[AndOrList] = []
        while True:
            self._skip_lines()
            word = self.peek()
            if not word or word in ends:
                break
            item = self._item()
            after = self.peek()
            if after == "&":
                self._take("&")
                item = AndOrList(pipelines=item.pipelines, operators=item.operators, is_background=True)
            elif after in (";", "\n"):
                self._take(after)
            elif after and after not in ends:
                raise NotUnderstood
            found.append(item)
        self._depth -= 1
        return tuple(found)

    def _item(self) -> AndOrList:
        pipelines, operators = [self._pipeline()], []
        while (operator := self.peek()) in ("&&", "||"):
            self._take(operator)
            self._skip_lines()
            operators.append(operator)
            pipelines.append(self._pipeline())
        return AndOrList(pipelines=tuple(pipelines), operators=tuple(operators))

    def _pipeline(self) -> Pipeline:
        is_negated = False
        while (word := self.peek()) in ("!", "time"):
            self._take(word)
            if word == "time" and self.peek() == "-p":
                self._take("-p")
            is_negated ^= word == "!"
        commands = [self._command()]
        while (operator := self.peek()) in ("|", "|&"):
            self._take(operator)
            self._skip_lines()
            commands.append(self._command())
        return Pipeline(commands=tuple(commands), is_negated=is_negated)

    def _command(self) -> Command:
        self._count += 1
        if self._count > MOST_COMMANDS:
            raise NotUnderstood
        word = self.peek()
        if word in _REFUSED:
            raise NotUnderstood
        if self._text.startswith("((", self._at):
            return self._redirections(self._test("((", "))"))
        if word == "(":
            return self._redirections(self._body("subshell", "(", ")"))
        if word == "[[":
            return self._redirections(self._test("[[", "]]"))
        if word == "{":
            return self._redirections(self._body("group", "{", "}"))
        readers = {"if": self._if, "while": self._while, "until": self._while, "for": self._for, "case": self._case}
        if word in readers:
            return self._redirections(readers[word]())
        if word == "function":
            self._take("function")
            name = self.peek()
            self._take(name)
            return self._function(name)
        if _RESERVED.fullmatch(word) or OPERATOR.fullmatch(word):
            raise NotUnderstood
        if re.match(r"[\w.:-]+[ \t]*\([ \t]*\)", self._text[self._at : self._at + 200]):
            self._take(word)
            return self._function(word)
        return self._simple()

    def _function(self, name: str) -> ShellFunction:
        if self.peek() == "(":
            self._take("(")
            self._take(")")
        self._skip_lines()
        body = self._command()
        if not isinstance(body, Compound) or not re.fullmatch(r"[\w.:-]+", name):
            raise NotUnderstood
        return ShellFunction(name=name, body=body)

    def _body(self, kind: str, begin: str, end: str) -> Compound:
        self._take(begin)
        body = self.items((end,))
        self._take(end)
        return Compound(kind=kind, parts=(body,))

    def _test(self, begin: str, end: str) -> Compound:
        """Return an expression; what it contains is not read."""
        stop = self._text.find(end, self._at)
        inner = self._text[self._at + len(begin) : stop]
        if stop < 0 or "$(" in inner or "`" in inner or (begin == "((" and "\n" in inner):
            raise NotUnderstood
        self._at = stop + len(end)
        if self._rest() and self._text[self._at] not in SPECIAL:
            raise NotUnderstood
        return Compound(kind="test", expanded=(ShellWord(text=inner),))

    def _if(self) -> Compound:
        parts: list[tuple[AndOrList, ...]] = []
        word = "if"
        while word in ("if", "elif"):
            self._take(word)
            parts.append(self.items(("then",)))
            self._take("then")
            parts.append(self.items(("elif", "else", "fi")))
            word = self.peek()
        if word == "else":
            self._take("else")
            parts.append(self.items(("fi",)))
        self._take("fi")
        return Compound(kind="if", parts=tuple(parts))

    def _while(self) -> Compound:
        kind = self.peek()
        self._take(kind)
        condition = self.items(("do",))
        return Compound(kind=kind, parts=(condition, self._do()))

    def _do(self) -> tuple[AndOrList, ...]:
        self._take("do")
        body = self.items(("done",))
        self._take("done")
        return body

    def _for(self) -> Compound:
        self._take("for")
        words: tuple[ShellWord, ...] | None = None
        if self._text.startswith("((", self._at + 1) or self.peek().startswith("(("):
            self._skip_blanks()
            name, expanded = "", self._test("((", "))").expanded
        else:
            name, expanded = self.peek(), ()
            if not re.fullmatch(r"[A-Za-z_]\w*", name):
                raise NotUnderstood
            self._take(name)
            self._skip_lines()
            if self.peek() == "in":
                self._take("in")
                found = []
                while self.peek() not in (";", "\n", ""):
                    found.append(self._word())
                words = tuple(found)
        if self.peek() == ";":
            self._take(";")
        self._skip_lines()
        expanded = expanded or words or ()
        return Compound(kind="for", parts=(self._do(),), words=words, expanded=expanded, variable=name)

    def _case(self) -> Compound:
        self._take("case")
        self._skip_blanks()
        word = self._word()
        self._skip_lines()
        self._take("in")
        bodies: list[tuple[AndOrList, ...]] = []
        is_exhaustive = False
        while True:
            self._skip_lines()
            if self.peek() == "esac":
                break
            if self.peek() == "(":
                self._take("(")
            while True:
                is_exhaustive |= self._word().text == "*"
                if self.peek() != "|":
                    break
                self._take("|")
            self._take(")")
            bodies.append(self.items((";;", "esac")))
            if self.peek() == ";;":
                self._take(";;")
        self._take("esac")
        return Compound(kind="case", parts=tuple(bodies), expanded=(word,), is_exhaustive=is_exhaustive)

    def _redirections(self, command: Compound) -> Compound:
        while self._redirection() is not None:
            pass
        return command

    def _redirection(self) -> ShellWord | None:
        self._skip_blanks()
        match = _REDIRECTION.match(self._text, self._at)
        if match is None or self._text.startswith(("<(", ">("), self._at):
            return None
        self._at = match.end()
        self._skip_blanks()
        word = self._word()
        if match[0].lstrip("0123456789") in ("<<", "<<-"):
            end = re.sub(r"[\\'\"]", "", word.text)
            self._documents.append((end, match[0].endswith("-"), end == word.text))
        return word

    def _simple(self) -> Simple:
        assigned: list[ShellWord] = []
        words: list[ShellWord] = []
        redirected: list[ShellWord] = []
        line = last = self._line
        while True:
            redirection = self._redirection()
            if redirection is not None:
                redirected.append(redirection)
                continue
            word = self.peek()
            if not word and not self._text.startswith(("<(", ">("), self._at):
                break
            if OPERATOR.match(self._text, self._at):
                break
            is_assignment = not words and ASSIGNMENT.match(self._text, self._at)
            (assigned if is_assignment else words).append(self._word())
            last = self._line
        if not (assigned or words or redirected):
            raise NotUnderstood
        return Simple(
            assigned=tuple(assigned), words=tuple(words), redirected=tuple(redirected), line=line, last_line=last
        )
