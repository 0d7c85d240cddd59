"""Decode the bytes of a file to text."""

from __future__ import annotations

from smspec.diagnostics import Rule
from smspec.diagnostics.diagnostic import ParseErrors
from smspec.source import SourceText
from smspec.spec.yaml.text_limits import MAX_BYTES, too_large

NOT_UTF8 = Rule("SM102", "text that is not UTF-8")

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


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
