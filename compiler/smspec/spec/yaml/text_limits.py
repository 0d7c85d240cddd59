"""Limits on a text before it is parsed: its size, and only characters that a reviewer can see."""

from __future__ import annotations

import re
from itertools import islice

from smspec.diagnostics import Rule
from smspec.diagnostics.parse_errors import ParseErrors
from smspec.diagnostics.quoting import quoted

INVISIBLE_CHARACTER = Rule("SM103", "invisible character")
DIRECTIVE = Rule("SM113", "YAML directive")
BEYOND_THE_LIMITS = Rule("SM104", "spec beyond the limits")

MAX_BYTES = 1_048_576
MAX_DEPTH = 64
# One for every scalar, two for every list or mapping, counted again for each alias.
MAX_PARTS = 20_000

# Everything not printable in YAML, the separators that only some YAML parsers read as line breaks (U+0085, U+2028,
# U+2029), byte order marks inside the text, and the marks that reorder the display.
# A class of the rejected characters: the allowed ones extend beyond U+FFFF, and such a class takes 5 ms to compile.
_REFUSED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]+|\r(?!\n)"
)
_NAMES = {
    "\0": "a NUL character",
    "\r": "a carriage return without a line feed",
    "\x1b": "an escape character",
    "\x7f": "a delete character",
    "\x85": "a next-line character",
    "\u2028": "a line separator",
    "\u2029": "a paragraph separator",
    "\ufeff": "a byte order mark",
}
_MOST_SHOWN = 10
_FIRST_LINE_WITH_SOMETHING = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE)


def check(faults: ParseErrors) -> None:
    """Reject a text that is too large or contains characters that cannot be seen."""
    text = faults.text.text
    if len(text) > MAX_BYTES or (len(text) * 4 > MAX_BYTES and len(text.encode("utf-8", "replace")) > MAX_BYTES):
        too_large(faults)
    # Few texts have any, and no refused character is printable: this takes a sixth of the time of the search.
    is_visible = text.replace("\n", "").replace("\t", "").isprintable()
    for match in () if is_visible else islice(_REFUSED.finditer(text), _MOST_SHOWN):
        character = match[0][0]
        faults.add(
            INVISIBLE_CHARACTER,
            faults.span(match.start(), match.end()),
            f"invisible character: {_NAMES.get(character, f'U+{ord(character):04X}')}",
            help=_help(character),
        )
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


def _help(character: str) -> str:
    if character == "\0":
        return "save the file as UTF-8; NUL characters are a sign of UTF-16 or of a file that is not text"
    if character == "\r":
        return "save the file with LF or CRLF line breaks"
    return f'remove it; if a value needs it, use "\\u{ord(character):04X}" in double quotes'
