"""The text of a file before it is parsed: UTF-8, of limited size, and with only characters that a reviewer can see."""

from __future__ import annotations

import re

from smspec.diagnostics import Rule
from smspec.diagnostics.diagnostic import ParseErrors
from smspec.diagnostics.quoting import quoted
from smspec.diagnostics.unseen_names import check_text
from smspec.source import SourceText

DIRECTIVE = Rule("SM113", "YAML directive")
BEYOND_THE_LIMITS = Rule("SM104", "spec beyond the limits")

MAX_BYTES = 1_048_576
MAX_DEPTH = 64
# One for every scalar, two for every list or mapping, counted again for each alias.
MAX_PARTS = 20_000

_FIRST_LINE_WITH_SOMETHING = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE)

NOT_UTF8 = Rule("SM102", "text that is not UTF-8")

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


def check(faults: ParseErrors) -> None:
    """Reject a text that is too large or contains characters that cannot be seen."""
    text = faults.text.text
    if len(text) > MAX_BYTES or (len(text) * 4 > MAX_BYTES and len(text.encode("utf-8", "replace")) > MAX_BYTES):
        too_large(faults)
    if not (text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()):
        check_text(faults)
    # Checked here because the parsers differ: one skips unknown directives, the other stops.
    first = _FIRST_LINE_WITH_SOMETHING.search(text)
    if first and text.startswith("%", first.start()):
        refuse_directive(faults, first.start())
    if faults:
        raise faults.rejected()


def refuse_directive(faults: ParseErrors, at: int) -> None:
    """Reject a line such as ``%YAML 1.1``."""
    line = faults.text.text[at : at + 100].split("\n", 1)[0].rstrip()
    help = "remove it; smspec reads every spec as YAML 1.2"
    faults.add(
        DIRECTIVE,
        faults.span(at, at + len(line)),
        f"YAML directive {quoted(line.split()[0])} is not allowed",
        help=help,
    )


def too_large(faults: ParseErrors) -> None:
    """Reject the text because of its size."""
    faults.add(
        BEYOND_THE_LIMITS,
        faults.span(0, 0),
        "the file is larger than 1 MiB",
        help="a spec is a page or two; move data to files in `source` or to a channel",
    )
    raise faults.rejected()


def decode_bytes(name: str, content: bytes) -> SourceText:
    """Return the text of a file called ``name``, without its byte order mark.

    Raise `InvalidInput` unless it is UTF-8.
    """
    if len(content) > MAX_BYTES:
        too_large(ParseErrors(SourceText(name, content[:MAX_BYTES].decode("utf-8", "replace"))))
    try:
        return SourceText(name, content.decode("utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        # Replace what is not UTF-8 by a question mark; everything before it keeps its position.
        faults = ParseErrors(SourceText(name, content.decode("utf-8", "replace")))
        start = len(content[: error.start].decode("utf-8"))
        if content.startswith(_UTF16_MARKS):
            message = "the file is UTF-16, not UTF-8"
        else:
            message = f"the file is not UTF-8: byte 0x{content[error.start]:02X}"
        faults.add(NOT_UTF8, faults.span(start, start + 1), message, help="save the file as UTF-8")
        raise faults.rejected() from None
