"""The patterns of the API, which are Java's, matched with Python's ``re``, and how messages name members and forms.

Java's ``matches()`` anchors a pattern on both sides; its ``\\d \\w \\s`` and POSIX classes know ASCII only; its ``.``
stops at five line terminators; and it has Unicode categories, ``\\p{L}``, which ``re`` lacks. A category is written out
for the characters at hand: for ASCII, and for the other characters of the very value that is matched.
"""

from __future__ import annotations

import functools
import re

from smspec.diagnostics.quoting import duration, path_name
from smspec.service.shapes import Shape
from smspec.source import Path

_FORMS = {
    "ChannelName": "letters, digits, `.`, `-`, and `_`",
    "TrainingEnvironmentKey": "letters, digits, and `_`; do not begin with a digit",
    "FileSystemId": "`fs-` and at least 8 lowercase hexadecimal digits",
    "KmsKeyId": "a key ID, `alias/…`, or an ARN: letters, digits, and `: / _ -`",
    "RoleArn": "`arn:aws:iam::<12 digits>:role/<name>`",
    "S3Uri": "`s3://<bucket>/<key>`, without line breaks",
    "SecurityGroupId": "letters, digits, and `-`",
    "SubnetId": "letters, digits, and `-`",
    "TagKey": "letters, digits, spaces, and `_ . : / = + - @`",
    "TagValue": "letters, digits, spaces, and `_ . : / = + - @`",
    "TrainingJobName": "letters, digits, and hyphens; start and end with a letter or digit",
    "TrainingPlanArn": "`arn:aws:sagemaker:<region>:<account>:training-plan/<name>`",
}

_KINDS = {
    "structure": "a mapping",
    "map": "a mapping",
    "list": "a list",
    "string": "a string",
    "integer": "an integer",
    "long": "an integer",
    "boolean": "true or false",
    "any": "a value",
}

_SHOWN = 60

LINE_TERMINATORS = "\n\r\x85\u2028\u2029"

_LINE_BREAK = f"[{LINE_TERMINATORS}]"
_ASCII = "".join(map(chr, range(128)))
_POSIX = {
    "Alnum": "0-9A-Za-z",
    "Alpha": "A-Za-z",
    "Digit": "0-9",
    "Lower": "a-z",
    "Upper": "A-Z",
    "XDigit": "0-9A-Fa-f",
}
_CATEGORY = r"[LMNPSZC][a-z]?"
_CLASSES = frozenset("dDwWsS")
_CONTROLS = frozenset("tnrf")
_HEXADECIMAL = {"x": 2, "u": 4}
_GROUPS = ("?:", "?=", "?!", "?<=", "?<!")


class UnsupportedPattern(ValueError):
    """A construct without an equivalent here. No pinned pattern has one, as a test checks."""


def matches(pattern: str, value: str) -> bool:
    """Return whether the whole value matches, as Java would. Check the length first: patterns may backtrack."""
    if pattern == r"[\S\s]*":
        return True
    if pattern == ".*":
        return not re.search(_LINE_BREAK, value)
    knows_categories = "\\p" in pattern or "\\P" in pattern
    others = "".join(sorted(set(value))) if knows_categories and not value.isascii() else ""
    return bool(_compiled(pattern, others).fullmatch(value))


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str, alphabet: str) -> re.Pattern[str]:
    return re.compile(translated(pattern, alphabet), re.ASCII)


def translated(pattern: str, alphabet: str = "") -> str:
    """Return the pattern in the syntax of ``re``, valid for values with ASCII characters and those of ``alphabet``."""
    return _Translation(pattern, alphabet).whole()


class _Translation:
    """One pass over a pattern; ``at`` is the position of the next character."""

    def __init__(self, pattern: str, alphabet: str) -> None:
        self.pattern = pattern
        self.alphabet = sorted(set(_ASCII + alphabet))
        self.at = 0

    def whole(self) -> str:
        words: list[str] = []
        while self.at < len(self.pattern):
            words.append(self._atom(words[-1] if words else ""))
        return "".join(words)

    def _atom(self, before: str) -> str:
        character = self._next()
        if character == ".":
            return f"[^{LINE_TERMINATORS}]"
        if character == "[":
            return self._character_class()
        if character == "\\":
            text, is_class = self._escape()
            return _bracketed(text, negated=False) if is_class else text
        if character == "(" and self._peek() == "?":
            for opening in _GROUPS:
                if self.pattern.startswith(opening, self.at):
                    self.at += len(opening)
                    return f"({opening}"
            raise self._unknown("a group with a name or flags")
        if character == "+" and before in ("*", "+", "?", "}"):
            raise self._unknown("a possessive quantifier")
        return character

    def _character_class(self) -> str:
        negated = self._peek() == "^"
        self.at += negated
        items: list[str] = []
        if self._peek() == "]":
            raise self._unknown("an empty class")
        while (first := self._member())[0] != "]":
            text, is_class = first
            if not is_class and self._peek() == "-" and self.pattern[self.at + 1 : self.at + 2] != "]":
                self.at += 1
                last, is_class = self._member()
                if is_class:
                    raise self._unknown("a range up to a class")
                text = f"{text}-{last}"
            items.append(text)
        return _bracketed("".join(items), negated=negated)

    def _member(self) -> tuple[str, bool]:
        """Return the next member of a class, and whether it means several characters; ``]`` ends the class."""
        character = self._next()
        if character == "\\":
            return self._escape()
        if character == "[" or (character == "&" and self._peek() == "&"):
            raise self._unknown("a union or intersection of classes")
        return (character if character == "]" else re.escape(character)), False

    def _escape(self) -> tuple[str, bool]:
        """Return the character after a backslash, escaped for a class, and whether it means several characters."""
        character = self._next()
        if character in ("p", "P"):
            return self._property(negated=character == "P"), True
        if character in _CLASSES:
            return f"\\{character}", True
        if character in _CONTROLS:
            return f"\\{character}", False
        if character in _HEXADECIMAL:
            digits = self.pattern[self.at : self.at + _HEXADECIMAL[character]]
            self.at += len(digits)
            return re.escape(chr(int(digits, 16))), False
        if character.isascii() and not character.isalnum():
            return re.escape(character), False
        raise self._unknown(f"\\{character}")

    def _property(self, *, negated: bool) -> str:
        name = self._next()
        if name == "{":
            end = self.pattern.index("}", self.at)
            name = self.pattern[self.at : end]
            self.at = end + 1
        if name in _POSIX:
            posix = re.compile(f"[{_POSIX[name]}]")
            held = [character for character in self.alphabet if posix.match(character)]
        elif re.fullmatch(_CATEGORY, name):
            # Imported late: only patterns of tags use categories.
            from unicodedata import category

            held = [character for character in self.alphabet if category(character).startswith(name)]
        else:
            raise self._unknown(f"\\p{{{name}}}")
        if negated:
            held = [character for character in self.alphabet if character not in held]
        return "".join(map(re.escape, held))

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _next(self) -> str:
        character = self._peek()
        if not character:
            raise self._unknown("an open end")
        self.at += 1
        return character

    def _unknown(self, what: str) -> UnsupportedPattern:
        return UnsupportedPattern(f"{what} at {self.at} in {self.pattern}")


def _bracketed(items: str, *, negated: bool) -> str:
    if not items:
        return r"[\S\s]" if negated else r"[^\S\s]"
    return f"[{'^' if negated else ''}{items}]"


def member_name(path: Path) -> str:
    """Return the name of the value at ``path`` in a message."""
    return path_name(path) if path else "the request"


def form(shape: Shape) -> str:
    """Return a description, or else the pattern, of the values of a shape; empty if a pattern explains nothing."""
    if shape.pattern in (None, ".*", ".+"):
        return ""
    return _FORMS.get(shape.name) or f"a value that matches `{shape.pattern}`"


def quantity(number: int, shape: Shape, *, in_spec_words: bool = False) -> str:
    """Return a number with its unit, for seconds in the notation of the author: of a request or of a spec."""
    if shape.name.endswith("InSeconds"):
        return time(number, in_spec_words=in_spec_words)
    return f"{number:,}{' GB' if shape.name.endswith('InGB') else ''}"


def time(seconds: int, *, in_spec_words: bool) -> str:
    """Return ``28,800 s`` or, in the notation of a spec, ``8h``."""
    return duration(seconds) if in_spec_words else f"{seconds:,} s"


def kind(shape: Shape) -> str:
    """Return the type of the values of a shape, in words."""
    return _KINDS[shape.kind]


def kind_of(value: object) -> str:
    """Return the type of a value, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    if isinstance(value, int):
        return "an integer"
    if isinstance(value, float):
        return "a number with a fraction"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "a mapping"


def shown(value: object) -> str:
    """Return a value for a message: in one line, truncated if it is long."""
    text = "".join(character if character.isprintable() else "�" for character in str(value))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
