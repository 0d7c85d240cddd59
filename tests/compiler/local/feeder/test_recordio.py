"""RecordIO framing, read by the rules of dmlc-core."""

from __future__ import annotations

import struct

from hypothesis import example, given
from hypothesis import strategies as st

from smspec.local.feeder.writing import MAGIC, framed

PAYLOADS = st.lists(st.one_of(st.binary(max_size=9), st.just(MAGIC)), max_size=8).map(b"".join)


def _read(stream: bytes) -> list[bytes]:
    """Decode as dmlc-core's reader does: parts are joined by the magic that the writer left out."""
    records, parts, position = [], [], 0
    while position < len(stream):
        magic, word = struct.unpack_from("<4sI", stream, position)
        assert magic == MAGIC
        flag, length = word >> 29, word & (1 << 29) - 1
        position += 8
        parts.append(stream[position : position + length])
        assert len(parts[-1]) == length
        position += length + -length % 4
        assert (flag in (2, 3)) == (len(parts) > 1)
        if flag in (0, 3):
            records.append(MAGIC.join(parts))
            parts = []
    assert not parts and position == len(stream)
    return records


@given(st.lists(PAYLOADS, max_size=5))
@example([MAGIC, MAGIC * 2, b"1234" + MAGIC, b"1" + MAGIC, MAGIC + b"1", b""])
def test_payloads_survive(payloads):
    assert _read(b"".join(piece for payload in payloads for piece in framed(payload))) == payloads


@given(PAYLOADS)
def test_magic_number_only_begins_parts(payload):
    stream = b"".join(framed(payload))
    starts, position = set(), 0
    while position < len(stream):
        starts.add(position)
        length = struct.unpack_from("<I", stream, position + 4)[0] & (1 << 29) - 1
        position += 8 + length + -length % 4
    assert {place for place in range(0, len(stream), 4) if stream.startswith(MAGIC, place)} == starts
