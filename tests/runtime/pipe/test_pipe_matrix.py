"""Every view with every cut, read size, and damage: items are whole or there is an error."""

import io
import struct
import sys
import tracemalloc

import pytest

from smspec_runtime.pipe import Corrupt, TimedOut, Truncated
from smspec_runtime.pipe.reader import Reader
from smspec_runtime.pipe.views import VIEWS
from support.pipe import pipe_formats as formats
from support.pipe.piecewise_source import PiecewiseSource, outcome, reader_of

HUGE = (1 << 60, (1 << 63) - 1)
MULTIPART = b"head" + formats.MAGIC + b"tail!"


def message(number):
    return formats.record(
        {"values": formats.tensor("f", [number, 0.5])}, {"values": formats.tensor("i", [number])}, uid="u"
    )


def text(items):
    return [str(item) for item in items]


STREAMS = {
    "lines": [b"one\n", b"\n", b"three\n"],
    "jsonlines": [b'{"a": [1]}\n', b"[2]\n", b'"three"\n'],
    "csv": [b"a,b\r\n", b'"c\n","d"""\r\n', "é,\U0001f600\r\n".encode(), b"e,f\r\n"],
    "recordio": list(map(formats.recordio, [b"one", b"", MULTIPART, *[b"like"] * 40, b"last"])),
    "recordio_protobuf": [formats.recordio(message(number)) for number in range(20)],
    "augmented": [
        formats.recordio(b"image") + formats.recordio(b"1"),
        formats.recordio(MULTIPART) + formats.recordio(b"0"),
    ],
    "tfrecord": list(map(formats.tfrecord, [b"one", b"", *[b"like"] * 40, b"last"])),
    "tar": [formats.tar([("a", b"A")]), formats.tar([("d" * 150, b"B" * 600)])],
}
"""Per view the pieces of a small stream, one item each."""

OPTIONS = {"augmented": {"names": ["image-ref", "label"]}}


def read(view, data, sizes=(1 << 30,), **options):
    items, error = outcome(VIEWS[view](reader_of(data, sizes), **OPTIONS.get(view, {}), **options))
    return text(items), error


@pytest.mark.parametrize("view", STREAMS)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 21, 64, 100])
def test_short_reads_yield_equal_items(view, size):
    data = b"".join(STREAMS[view])
    assert read(view, data, (size,)) == read(view, data)
    assert len(read(view, data)[0]) == len(STREAMS[view])


def cuts(pieces):
    """Yield every place that differs from others.

    Of pieces that are alike the first ten and the last three are cut. Of a block of zeros, which fill archives up, its
    edges and one place inside.
    """
    data = b"".join(pieces)
    start = 0
    for index, piece in enumerate(pieces):
        if index < 10 or index >= len(pieces) - 3:
            for cut in range(start, start + len(piece)):
                block = cut - cut % 512
                if cut - block in (0, 1, 256, 511) or any(data[block : block + 512]):
                    yield cut
        start += len(piece)


@pytest.mark.parametrize("view", STREAMS)
def test_every_cut_is_reported_or_between_items(view):
    pieces = STREAMS[view]
    data = b"".join(pieces)
    everything = read(view, data)[0]
    ends = [0]
    for piece in pieces:
        ends.append(ends[-1] + len(piece))
    for cut in cuts(pieces):
        items, error = read(view, data[:cut], (7, 300 if view == "tar" else 50))  # an archive is mostly padding
        whole = max(index for index, end in enumerate(ends) if end <= cut)
        if view == "lines":  # the last line may lack its newline
            assert items == text(io.BytesIO(data[:cut]))
        elif cut in ends:
            assert (items, error) == (everything[:whole], None)
        elif error is None:  # text that ends where the newline is missing, or an archive among the zeros at its end
            assert view in ("jsonlines", "csv") or not any(data[cut : ends[whole + 1]])
            assert items[:whole] == everything[:whole]
        else:
            assert isinstance(error, Truncated)
            assert ends[whole] <= error.offset <= cut
            assert items[:whole] == everything[:whole]
            assert view == "tar" or len(items) == whole  # an archive may lack its end marker alone


@pytest.mark.parametrize("view", STREAMS)
def test_empty_epoch_has_no_items(view):
    assert read(view, b"") == ([], None)


def damaged(view, at, byte):
    data = bytearray(b"".join(STREAMS[view]))
    data[at] = byte
    return bytes(data)


@pytest.mark.parametrize("view", ["recordio", "tfrecord"])
def test_damaged_header_is_located_at_its_record(view):
    pieces = STREAMS[view]
    everything = read(view, b"".join(pieces))[0]
    start = 0
    for index, piece in enumerate(pieces):
        for at in range(start, start + 4):  # the magic number, or the low bytes of the length
            items, error = read(view, damaged(view, at, 0xA5), (60,))
            assert isinstance(error, Corrupt)
            assert (error.offset, items) == (start, everything[:index])
        start += len(piece)


def test_damaged_tfrecord_byte_is_detected_with_crc():
    data = b"".join(STREAMS["tfrecord"][:4])
    for at, byte in enumerate(data):
        assert isinstance(read("tfrecord", damaged("tfrecord", at, byte ^ 0x10)[: len(data)], crc=True)[1], Corrupt)


def test_damaged_message_byte_changes_values_or_is_reported():
    """Records are read by the example of the first; what differs outside the values is parsed as if it were alone."""
    pieces = STREAMS["recordio_protobuf"]
    for at in range(8, len(pieces[0])):
        for byte in (0x00, 0x7F, 0x80, 0xFF):
            bad = bytearray(pieces[9])
            bad[at] = byte
            alone = read("recordio_protobuf", bytes(bad))
            items, error = read("recordio_protobuf", b"".join([*pieces[:9], bad, *pieces[10:]]))
            assert items[9:10] == alone[0]
            assert type(error) is type(alone[1])


@pytest.mark.parametrize("length", HUGE)
def test_giant_length_costs_no_memory(length):
    head = struct.pack("<Q", length)
    tfrecord = head + struct.pack("<I", formats.masked_crc(head)) + b"x"
    member = bytearray(formats.tar([("a", b"")])[:512])
    member[124:136] = b"\x80" + length.to_bytes(11, "big")
    member[148:156] = b"%06o\0 " % (sum(member[:148]) + sum(member[156:]) + 8 * 32)
    record = formats.MAGIC + struct.pack("<I", (1 << 29) - 1)
    for view, data in [("tfrecord", tfrecord), ("tar", bytes(member)), ("recordio", record), ("augmented", record)]:
        tracemalloc.start()
        try:
            assert isinstance(read(view, data)[1], Truncated)
            assert tracemalloc.get_traced_memory()[1] < 80 << 20
        finally:
            tracemalloc.stop()


def test_item_larger_than_the_read_size_is_read(monkeypatch):
    monkeypatch.setattr(sys.modules["smspec_runtime.pipe.reader"], "AT_ONCE", 10_000)
    payload = formats.pattern(333_333)
    data = formats.recordio(b"a") + formats.recordio(payload) + formats.recordio(b"b")
    assert list(VIEWS["recordio"](reader_of(data, (4099,)))) == [b"a", payload, b"b"]


def test_error_inside_a_large_item_releases_its_memory():
    """A view that its traceback kept would make Python 3.13 complain of the buffer in the log, some time later."""
    given = []

    class Silent(PiecewiseSource):
        def readinto(self, view):
            given.append(view)
            raise TimedOut(self.origin, 0, "nothing came")

    with pytest.raises(TimedOut):
        Reader(Silent(b"")).exact(b"head", 100_000)
    with pytest.raises(ValueError, match="released"):
        given[0].tobytes()
