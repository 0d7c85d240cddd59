"""The tokens of a JSON text: whitespace, numbers, words, and strings.

Syntax of other notations is reported and parsed as it was meant, so that one run reports all of it.
"""

from __future__ import annotations

import re
from typing import NoReturn

from smspec.diagnostics import ParseErrors, Rule
from smspec.diagnostics.quoting import quoted
from smspec.source import Scalar, SourceText

BEYOND_THE_LIMITS = Rule("SM152", "JSON beyond the limits")

MAX_BYTES = 1_048_576
MAX_DEPTH = 64
# One for every name and every scalar, two for every list or object.
MAX_PARTS = 20_000
MAX_DIGITS = 400
"""The most digits of one number; doubles have 309 before the point, and Python rejects thousands."""

BROKEN_JSON = Rule("SM150", "invalid JSON")
OTHER_NOTATION = Rule("SM154", "notation outside JSON")
WRONG_CHARACTER = Rule("SM155", "invalid character in JSON")

MOST_SLIPS = 10_000
"""After this many errors of one kind, stop: the file was not written as JSON."""

MOST_OF_A_KIND = 5
"""A printed Python dict has hundreds of single quotes: report a few."""

_BLANKS = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[^\s\[\]{}\",:'“”/#]+")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPED = {character: f"\\{letter}" for letter, character in _ESCAPES.items()}
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_OTHER_CONSTANTS = {"none": "null", "nil": "null", "undefined": "null", "true": "true", "false": "false"}
_NOT_A_NUMBER = frozenset({"nan", "infinity", "inf"})
_CLOSING = {"'": "'", "“": "”", "”": "”", "‘": "’", "’": "’", "`": "`"}
"""Quotes that authors and word processors use, and the quotes that end their strings."""


class Scanner:
    """A position in a text, and the errors before it."""

    def __init__(self, text: SourceText) -> None:
        self.faults = ParseErrors(text)
        self.text = text.text
        self.at = 0
        self._reported: dict[str, int] = {}

    @property
    def character(self) -> str:
        """The character at the position; empty at the end of the text."""
        return self.text[self.at : self.at + 1]

    def stop(self, start: int, end: int, message: str, *, help: str = "") -> NoReturn:
        """Report an error after which nothing can be parsed."""
        self.faults.add(BROKEN_JSON, self.faults.span(start, end), message, help=help)
        raise self.faults.rejected()

    def slip(self, rule: Rule, start: int, end: int, kind: str, message: str, *, help: str = "") -> None:
        """Report an error and go on; only the first few of each kind, and no more after very many."""
        self._reported[kind] = self._reported.get(kind, 0) + 1
        if self._reported[kind] > MOST_SLIPS:
            raise self.faults.rejected()
        if self._reported[kind] <= MOST_OF_A_KIND:
            self.faults.add(rule, self.faults.span(start, end), message, help=help)

    def skip_blanks(self) -> None:
        """Skip whitespace. Report comments and whitespace that JSON does not allow."""
        while True:
            match = _BLANKS.match(self.text, self.at)
            self.at = match.end() if match else self.at
            start = self.at
            if self.character == "#" or self.text.startswith(("//", "/*"), start):
                self.at = self._end_of_comment(start)
                self.slip(OTHER_NOTATION, start, self.at, "comment", "JSON has no comments", help="remove it")
            elif self.character and (self.character.isspace() or self.character == "\ufeff"):
                self.at += 1
                code = f"U+{ord(self.text[start]):04X}"
                message = f"{code} is not JSON whitespace"
                self.slip(WRONG_CHARACTER, start, self.at, "blank", message, help="use a space, or remove it")
            else:
                return

    def _end_of_comment(self, start: int) -> int:
        marks = ("*/", 2) if self.text.startswith("/*", start) else ("\n", 0)
        end = self.text.find(marks[0], start + marks[1])
        return len(self.text) if end < 0 else end + marks[1]

    def number(self) -> Scalar | None:
        """Parse a number; None if there is none at the position."""
        start = self.at
        match = _NUMBER.match(self.text, start)
        whole = _WORD.match(self.text, start)
        if match is None or whole is None or match.end() != whole.end():
            return None
        written = match[0]
        self.at = match.end()
        span = self.faults.span(start, self.at)
        if len(written) > MAX_DIGITS:
            self.faults.add(BEYOND_THE_LIMITS, span, f"the number has more than {MAX_DIGITS} characters")
            return Scalar(written, 0, True, span)
        value = float(written) if match[1] or match[2] else int(written)
        if value in (float("inf"), float("-inf")):
            self.faults.add(BEYOND_THE_LIMITS, span, f"number {quoted(written)} exceeds the range of a double")
        return Scalar(written, value, True, span)

    def word(self) -> Scalar:
        """Parse what is neither quoted nor a number: a constant, or an error."""
        start = self.at
        match = _WORD.match(self.text, start)
        if match is None:
            self.stop(start, start + 1, f"expected a value, got {quoted(self.character)}")
        written = match[0]
        self.at = match.end()
        span = self.faults.span(start, self.at)
        if written in _CONSTANTS:
            return Scalar(written, _CONSTANTS[written], True, span)
        intended = _OTHER_CONSTANTS.get(written.lower())
        if intended is not None:
            self._other(start, "constant", f"{quoted(written)} is not valid JSON", f"write `{intended}`")
            return Scalar(intended, _CONSTANTS[intended], True, span)
        if written.lstrip("+-").lower() in _NOT_A_NUMBER:
            help = "remove it, or use double quotes in a hyperparameter"
            self._other(start, "not a number", f"{quoted(written)} is not a JSON number", help)
        elif written[0] in "+-.0123456789":
            help = "use a number such as `0.5` or `1e-3`, or double quotes"
            self._other(start, "number", f"{quoted(written)} is not a JSON number", help)
        else:
            self._other(start, "bare text", f"{quoted(written)} has no quotes", "add double quotes")
        return Scalar(written, written, True, span)

    def _other(self, start: int, kind: str, message: str, help: str) -> None:
        self.slip(OTHER_NOTATION, start, self.at, kind, message, help=help)

    def begins_text(self) -> bool:
        """Return whether there is a quote at the position, of JSON or of a different notation."""
        return self.character == '"' or self.character in _CLOSING

    def quoted_text(self) -> Scalar:
        """Parse a string in quotes."""
        start = self.at
        opening = self.character
        self.at += 1
        content = self._content(start) if opening == '"' else self._otherwise_quoted(start, _CLOSING[opening])
        return Scalar(content, content, False, self.faults.span(start, self.at))

    def _otherwise_quoted(self, start: int, closing: str) -> str:
        end = self.text.find(closing, self.at)
        line_end = self.text.find("\n", self.at)
        message = f"JSON strings need double quotes, not {quoted(self.text[start])}"
        if end < 0 or 0 <= line_end < end:
            self.stop(start, start + 1, message, help='use `"`')
        content = self.text[self.at : end]
        self.at = end + 1
        help = "use double quotes; in Python, use `json.dumps`"
        kind = "quote" if closing == "'" else "printed quote"
        self.slip(OTHER_NOTATION, start, self.at, kind, message, help=help)
        return content.replace("\\'", "'")

    def _content(self, start: int) -> str:
        """Parse up to the closing quote, and skip it."""
        parts: list[str] = []
        while True:
            match = _PLAIN.match(self.text, self.at)
            if match:
                parts.append(match[0])
                self.at = match.end()
            character = self.character
            if character == '"':
                self.at += 1
                return "".join(parts)
            if character == "\\":
                parts.append(self._escape())
            elif character in ("", "\n", "\r"):
                help = 'add `"`' + ("" if not character else ", or use `\\n` for a line break")
                self.stop(start, self.at, "unclosed string", help=help)
            else:
                self.at += 1
                parts.append(character)
                written = _ESCAPED.get(character, f"\\u{ord(character):04x}")
                message = f"control character U+{ord(character):04X} in a string"
                self.slip(WRONG_CHARACTER, self.at - 1, self.at, "control", message, help=f"use `{written}`")

    def _escape(self) -> str:
        start = self.at
        letter = self.text[start + 1 : start + 2]
        if letter in _ESCAPES:
            self.at += 2
            return _ESCAPES[letter]
        unit = self._unit(start)
        if unit is None:
            self.at = start + 2
            help = "use `\\\\` for a backslash"
            self.slip(WRONG_CHARACTER, start, self.at, "escape", f"`\\{letter}` is not a JSON escape", help=help)
            return letter
        self.at = start + 6
        if 0xD800 <= unit < 0xDC00 and (low := self._unit(self.at)) is not None and 0xDC00 <= low < 0xE000:
            self.at += 6
            return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
        if 0xD800 <= unit < 0xE000:
            written = self.text[start : self.at]
            help = "use a pair of these, or the character itself"
            self.slip(WRONG_CHARACTER, start, self.at, "half", f"`{written}` is half of a surrogate pair", help=help)
            return "\ufffd"
        return chr(unit)

    def _unit(self, at: int) -> int | None:
        match = _HEX.match(self.text, at + 2) if self.text.startswith("\\u", at) else None
        return int(match[0], 16) if match else None
