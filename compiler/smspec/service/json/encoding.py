"""Decode the bytes of a JSON file to text: UTF-8 without a byte order mark (RFC 8259, 8.1)."""

from __future__ import annotations

from smspec.diagnostics import Rule
from smspec.diagnostics.diagnostic import ParseErrors
from smspec.service.json.limits import BEYOND_THE_LIMITS, MAX_BYTES
from smspec.source import SourceText

NOT_UTF8 = Rule("SM151", "JSON that is not plain UTF-8")

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_HELP = "save the file as UTF-8 without a byte order mark; in PowerShell: `-Encoding utf8NoBOM`"


def decode_json_bytes(name: str, content: bytes, most_bytes: int = MAX_BYTES) -> SourceText:
    """Return the text of a file called ``name``.

    Raise `InvalidInput` unless it is UTF-8 without a byte order mark, and not too large.
    """
    faults = ParseErrors(SourceText(name, content[: MAX_BYTES + 1].decode("utf-8", "replace").removeprefix("\ufeff")))
    if len(content) > most_bytes:
        help = "check the program that wrote the request; the API accepts far less"
        faults.add(BEYOND_THE_LIMITS, faults.span(0, 0), f"the file is larger than {most_bytes >> 20} MiB", help=help)
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
