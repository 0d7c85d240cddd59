"""Parse a JSON text, as RFC 8259 defines it, to a tree with positions: strict, within limits, no duplicate members."""

from __future__ import annotations

from typing import NoReturn

from smspec.diagnostics import Note, ParseErrors, Rule
from smspec.diagnostics.quoting import quoted
from smspec.service.json_scanner import BEYOND_THE_LIMITS, MAX_BYTES, MAX_DEPTH, MAX_PARTS, OTHER_NOTATION, Scanner
from smspec.source import Document, Mapping, Node, Scalar, Sequence, SourceText

DUPLICATE_MEMBER = Rule("SM153", "duplicate member")

_CLOSING = {"{": "}", "[": "]"}
_CALLED = {"{": "object", "[": "list"}

NOT_UTF8 = Rule("SM151", "JSON that is not plain UTF-8")

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_BEYOND_HELP = "check the program that wrote the request; the API accepts far less"
_HELP = "save the file as UTF-8 without a byte order mark; in PowerShell: `-Encoding utf8NoBOM`"


class _Reader:
    """Parses one text."""

    def __init__(self, text: SourceText) -> None:
        self.scan = Scanner(text)
        self._depth = 0
        self._parts = 0

    def beyond(self, at: int, message: str) -> NoReturn:
        """Stop parsing because a limit is exceeded."""
        faults = self.scan.faults
        faults.add(BEYOND_THE_LIMITS, faults.span(at, at), message, help=_BEYOND_HELP)
        raise faults.rejected()

    def root(self) -> Node:
        """Parse the one value of the text."""
        scan = self.scan
        scan.skip_blanks()
        if not scan.character:
            scan.stop(0, 0, "the file is empty", help='use an object: `{"TrainingJobName": …}`')
        if scan.character not in '{["-0123456789tfn' and not scan.begins_text():
            line_end = scan.text.find("\n", scan.at)
            end = min(scan.at + 40, line_end if line_end >= 0 else len(scan.text))
            help = (
                "JSON begins with `{`; `smspec validate FILE` checks a job spec, `smspec import` reads YAML of others"
            )
            scan.stop(scan.at, end, "the file is not JSON", help=help)
        value = self._value()
        scan.skip_blanks()
        if scan.character:
            message = f"the JSON ends before {quoted(scan.character)}, but the text goes on"
            scan.stop(scan.at, scan.at + 1, message, help="move the second request to its own file")
        return value

    def _value(self) -> Node:
        scan = self.scan
        if scan.character in _CLOSING:
            return self._container()
        self._count(1)
        if scan.begins_text():
            return scan.quoted_text()
        return scan.number() or scan.word()

    def _count(self, parts: int) -> None:
        self._parts += parts
        if self._parts > MAX_PARTS:
            self.beyond(self.scan.at, f"the text has more than {MAX_PARTS:,} parts")

    def _container(self) -> Node:
        scan = self.scan
        start, opening = scan.at, scan.character
        self._count(2)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self.beyond(start, f"lists and objects are nested more than {MAX_DEPTH} deep")
        scan.at += 1
        entries: dict[str, tuple[Scalar, Node]] = {}
        items: list[Node] = []
        comma = -1
        while not self._ends(start, opening, comma):
            if opening == "{":
                self._entry(entries)
            else:
                items.append(self._value())
            comma = self._comma(opening)
        scan.at += 1
        self._depth -= 1
        span = scan.faults.span(start, scan.at)
        return Mapping(tuple(entries.values()), span) if opening == "{" else Sequence(tuple(items), span)

    def _ends(self, start: int, opening: str, comma: int) -> bool:
        """Return whether the container ends here; ``comma`` is the position of the last comma, -1 for none."""
        scan = self.scan
        scan.skip_blanks()
        while scan.character == ",":
            message = "unexpected comma: no value before it"
            scan.slip(OTHER_NOTATION, scan.at, scan.at + 1, "comma", message, help="remove it")
            scan.at += 1
            scan.skip_blanks()
        if scan.character == _CLOSING[opening]:
            if comma >= 0:
                message = f"trailing comma before the end of the {_CALLED[opening]}"
                scan.slip(OTHER_NOTATION, comma, comma + 1, "comma", message, help="remove the comma")
            return True
        if not scan.character:
            self._unclosed(start, opening)
        if scan.character in "}]:":
            message = f"unexpected {quoted(scan.character)} in the {_CALLED[opening]}"
            scan.stop(scan.at, scan.at + 1, message, help=f"use `{_CLOSING[opening]}` to end the {_CALLED[opening]}")
        return False

    def _unclosed(self, start: int, opening: str) -> NoReturn:
        help = f"add `{_CLOSING[opening]}`; the file might be truncated"
        self.scan.stop(start, start + 1, f"unclosed {_CALLED[opening]}: no `{_CLOSING[opening]}`", help=help)

    def _comma(self, opening: str) -> int:
        """Skip the comma after a value and return its position; -1 where the container ends."""
        scan = self.scan
        behind = scan.at
        scan.skip_blanks()
        if scan.character == ",":
            scan.at += 1
            return scan.at - 1
        if scan.begins_text() or (opening == "[" and scan.character in ("{", "[")):
            scan.slip(OTHER_NOTATION, behind - 1, behind, "no comma", "missing comma")
        elif scan.character and scan.character not in "}]":
            scan.stop(scan.at, scan.at + 1, f"expected a comma or the end, got {quoted(scan.character)}")
        return -1

    def _entry(self, entries: dict[str, tuple[Scalar, Node]]) -> None:
        """Parse a name and its value. Report a duplicate name, and keep its first value."""
        scan = self.scan
        self._count(1)
        if scan.character in _CLOSING:
            scan.stop(scan.at, scan.at + 1, f"expected a name, got {quoted(scan.character)}")
        name = scan.quoted_text() if scan.begins_text() else self._bare_name()
        scan.skip_blanks()
        if scan.character != ":":
            found = quoted(scan.character) if scan.character else "the end of the text"
            message = f"expected a colon after {quoted(name.text)}, got {found}"
            scan.stop(scan.at, scan.at + 1, message)
        scan.at += 1
        scan.skip_blanks()
        if not scan.character or scan.character in ",}]:":
            scan.stop(scan.at, scan.at + 1, f"missing value of {quoted(name.text)}")
        value = self._value()
        if name.text not in entries:
            entries[name.text] = (name, value)
            return
        note = Note("first set here", entries[name.text][0].span)
        help = "remove one of them; most readers use the last one"
        message = f"duplicate member {quoted(name.text)}"
        scan.faults.add(DUPLICATE_MEMBER, name.span, message, help=help, notes=(note,))

    def _bare_name(self) -> Scalar:
        name = self.scan.word() if self.scan.number() is None else None
        if name is None or name.text in ("true", "false", "null"):
            self.scan.stop(self.scan.at - 1, self.scan.at, "a name needs double quotes")
        return name


def read_json(text: SourceText, most_bytes: int = MAX_BYTES) -> Document:
    """Return the tree of ``text``; raise `InvalidInput` with all errors.

    `smspec.source.to_data` converts it to plain values: integers stay exact, of any allowed length.
    """
    reader = _Reader(text)
    if len(text.text) > most_bytes:
        reader.beyond(0, f"the text is larger than {most_bytes >> 20} MiB")
    root = reader.root()
    if reader.scan.faults:
        raise reader.scan.faults.rejected()
    return Document(root, (text,))


def decode_json_bytes(name: str, content: bytes, most_bytes: int = MAX_BYTES) -> SourceText:
    """Return the text of a file called ``name``.

    Raise `InvalidInput` unless it is UTF-8 without a byte order mark, and not too large.
    """
    faults = ParseErrors(SourceText(name, content[: MAX_BYTES + 1].decode("utf-8", "replace").removeprefix("\ufeff")))
    if len(content) > most_bytes:
        message = f"the file is larger than {most_bytes >> 20} MiB"
        faults.add(BEYOND_THE_LIMITS, faults.span(0, 0), message, help=_BEYOND_HELP)
        raise faults.rejected()
    if content.startswith(_UTF16_MARKS) or content[:2] in (b"{\0", b"[\0") or content[:2] in (b"\0{", b"\0["):
        faults.add(NOT_UTF8, faults.span(0, 1), "the file is UTF-16 or UTF-32, not UTF-8", help=_HELP)
        raise faults.rejected()
    if content.startswith(b"\xef\xbb\xbf"):
        # Python's parser, and so the AWS CLI, rejects it.
        faults.add(NOT_UTF8, faults.span(0, 0), "the file starts with a byte order mark", help=_HELP)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        start = len(content[: error.start].decode("utf-8").removeprefix("\ufeff"))
        message = f"the file is not UTF-8: byte 0x{content[error.start]:02X}"
        faults.add(NOT_UTF8, faults.span(start, start + 1), message, help=_HELP)
        raise faults.rejected() from None
    if faults:
        raise faults.rejected()
    return SourceText(name, text)
