"""S3 keys are text: nothing in an address is a wildcard, an escape, a query, or a step to a parent directory."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.member_names import shown
from smspec.service.request import Request
from smspec.service.s3_address import key_of
from smspec.source import Path

RULE = Rule("SM804", "S3 address with text that S3 reads literally", "warning", evidence="devguide")

_READ_LITERALLY = ", which S3 reads literally"
_LITERAL = (
    (r"\?versionId=", "?versionId=", _READ_LITERALLY, "remove it; SageMaker reads the newest version"),
    (r"(?:^|/)\.\.(?:/|$)", "..", ", but S3 has no parent directories", "remove it, and write the prefix in full"),
    (r"(?:^|/)\.(?:/|$)", ".", _READ_LITERALLY, "remove it"),
    (r"(?:^|/)/", "//", ", which S3 reads as an empty name", "remove one `/`"),
    (r"\*", "*", ", but S3 has no wildcards", "use the prefix before it, or a manifest"),
    (r"\?", "?", ", but S3 has no wildcards or queries", "use the prefix before it, or a manifest"),
    (r"%[0-9A-Fa-f]{2}", "", ", which S3 does not decode", "use the character itself"),
    (r"\\", "\\", _READ_LITERALLY, "use `/`"),
    (r"[\x00-\x1f\x7f]", "", _READ_LITERALLY, "remove it"),
    (r"(?:^|(?<=/))[ \u00a0]+|[ \u00a0]+(?=/|$)", " ", _READ_LITERALLY, "remove the space"),
)
"""Pattern, the text to show (empty: what matches), what S3 does, and the remedy."""

_ANY = re.compile("|".join(f"(?:{pattern})" for pattern, *_ in _LITERAL))


def check(request: Request) -> Iterator[Finding]:
    """Warn about the first such text of every S3 address."""
    reported = {(*each.s3_path, "S3Uri") for each in request.channels if each.is_stored_as_files}
    for path, address in request.s3_addresses:
        if address.startswith("s3://") and _ANY.search(key_of(address)):
            yield from _finding(path, key_of(address), is_reported=path in reported)


def _finding(path: Path, key: str, *, is_reported: bool) -> Iterator[Finding]:
    for pattern, text, effect, remedy in _LITERAL:
        found = re.search(pattern, key)
        # SM803 reports these of a File channel.
        if found is not None and not (text == "//" and is_reported):
            what = "an outer space" if text == " " else f"`{shown(text or found[0])}`"
            yield RULE.at(path, f"{HERE} contains {what}{effect}", help=remedy)
            return
