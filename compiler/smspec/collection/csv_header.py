"""The header of a CSV file: its first record, which may span lines within quotes (RFC 4180)."""

from __future__ import annotations

from smspec.collection.faults import MergeFailed
from smspec.source.frozen import dataclass

_LARGEST = 16 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvHeader:
    """``line``: the record without its line end and a byte order mark. ``size``: bytes before the second record."""

    line: bytes
    size: int


def csv_header(path: str) -> CsvHeader:
    """Return the header of a file. Raise `MergeFailed` if its first record has no end, OSError."""
    with open(path, "rb") as file:
        start = file.read(_LARGEST)
    at = 0
    while True:
        end = start.find(b"\n", at)
        end = len(start) if end < 0 else end + 1
        if start.count(b'"', 0, end) % 2 == 0 or end == len(start):
            break
        at = end
    if len(start) == _LARGEST == end:
        raise MergeFailed(f"the first record of `{path}` is longer than {_LARGEST:,} bytes: is it a CSV file?")
    return CsvHeader(line=start[:end].removeprefix(_BYTE_ORDER_MARK).rstrip(b"\r\n"), size=end)
