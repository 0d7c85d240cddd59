"""pip reads a list of requirements as it is, and not as a reviewer sees it.

For pip, a line also ends at U+2028, a form feed, and the like, so it installs what looks like the end of a comment.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import islice

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import quoted
from smspec.diagnostics.unseen_names import line_faults, name_fault
from smspec.rules.requirements.requirements_in_another_format import RULE as OTHER_FORMAT
from smspec.service.requirement_lines import joined_lines
from smspec.source import Path

_CODING = re.compile(rb"#.*?coding[:=]\s*([-\w.]+)")  # pip, `_internal/utils/encoding.py`
_MOST = 10
"""Faults that are reported of one file."""


def check_unseen(content: bytes, path: Path, file: str) -> Iterator[Finding]:
    """Reject an encoding other than UTF-8, what cannot be seen, comments included, and look-alikes outside of them."""
    other = next(filter(None, map(_other_encoding, content.split(b"\n")[:2])), "")
    if other:
        yield OTHER_FORMAT.at(
            path, f"{file}: the comment `coding: {other}` sets an encoding other than UTF-8", help="remove the comment"
        )
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return
    text = content.decode("utf-8-sig", "replace")
    # Look-alikes wait for these to be removed: the numbers of lines differ for pip and for an editor.
    found = [*islice(line_faults(text), _MOST)] or [*islice(_lookalikes(text), _MOST)]
    for number, (rule, what, help) in found:
        yield rule.at(path, f"{file}: line {number} {what}", help=help)


def _lookalikes(text: str) -> Iterator[tuple[int, tuple[Rule, str, str]]]:
    if not text.isascii():
        words: dict[str, int] = {}
        for number, _, line in joined_lines(text):
            for word in line.split():
                words.setdefault(word, number)
        yield from ((number, fault) for word, number in words.items() if (fault := name_fault(word)))


def _other_encoding(line: bytes) -> str:
    """Return the encoding that a line sets for pip; empty if it is none, unknown, or UTF-8."""
    found = _CODING.match(line)
    name = found[1].decode("ascii", "replace") if found else ""
    try:
        return "" if not name or codecs.lookup(name).name in ("utf-8", "ascii", "utf-8-sig") else quoted(name)[1:-1]
    except LookupError:
        return ""
