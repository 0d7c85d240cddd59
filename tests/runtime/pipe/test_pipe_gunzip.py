"""Gzip objects: every view, consecutive members, and errors for cut or damaged data."""

import gzip
import random
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec_runtime import pipe
from smspec_runtime.pipe.gunzip import Gunzip
from smspec_runtime.pipe.reader import Reader
from smspec_runtime.pipe.views import VIEWS
from support.pipe import pipe_formats as formats
from support.pipe.fifo_writers import Writer
from support.pipe.piecewise_source import PiecewiseSource

CONTENT = {
    "lines": (b"1\n2\n3\n", [b"1\n", b"2\n", b"3\n"]),
    "jsonlines": (b"1\n2\n3\n", [1, 2, 3]),
    "csv": (b"a,b\nc,d\n", [["a", "b"], ["c", "d"]]),
    "recordio": (formats.recordio(b"one") + formats.recordio(b"two"), [b"one", b"two"]),
    "tfrecord": (formats.tfrecord(b"one") + formats.tfrecord(b"two"), [b"one", b"two"]),
    "tar": (formats.tar([("name", b"content")]), [("name", b"content")]),
}


@pytest.mark.parametrize("prefetch", [0, 1 << 16], ids=["plain", "prefetch"])
@pytest.mark.parametrize("view", CONTENT)
def test_every_view_decompresses(tmp_path, view, prefetch):
    data, items = CONTENT[view]
    (tmp_path / "data").write_bytes(gzip.compress(data[:9]) + gzip.compress(data[9:]))
    stream = pipe.open(str(tmp_path / "data"), read=view, prefetch=prefetch).gunzip()
    assert list(stream) == items
    assert stream.end == "eof"


def test_gunzip_serves_files_and_buffers(tmp_path):
    (tmp_path / "data").write_bytes(gzip.compress(b"0123456789" * 1000))
    path = str(tmp_path / "data")
    assert pipe.open(path).gunzip().file().read() == b"0123456789" * 1000
    buffer = bytearray(7)
    stream = pipe.open(path).gunzip()
    assert stream.readinto(buffer) == 7
    assert buffer == b"0123456"


def test_started_stream_cannot_change(tmp_path):
    (tmp_path / "data").write_bytes(gzip.compress(b"1\n"))
    stream = pipe.open(str(tmp_path / "data"), read="lines")
    iter(stream)
    with pytest.raises(ValueError, match="is being read already"):
        stream.gunzip()


@settings(max_examples=60)
@given(
    members=st.lists(st.tuples(st.binary(max_size=2000), st.integers(0, 3)), max_size=5),
    sizes=st.lists(st.integers(1, 900), min_size=1, max_size=5),
)
def test_padded_consecutive_members_are_read(members, sizes):
    data = b"".join(gzip.compress(content) + bytes(512 * padding) for content, padding in members)
    reader = Reader(Gunzip(PiecewiseSource(data, sizes)))
    assert b"".join(map(bytes, VIEWS["chunks"](reader))) == b"".join(content for content, _ in members)


@settings(max_examples=60)
@given(data=st.data(), sizes=st.lists(st.integers(1, 900), min_size=1, max_size=5))
def test_cut_member_is_reported_after_its_content(data, sizes):
    contents = [random.Random(i).randbytes(3000) for i in range(2)]
    members = [gzip.compress(content) for content in contents]
    cut = data.draw(st.integers(1, len(members[0]) + len(members[1]) - 1).filter(lambda n: n != len(members[0])))
    reader = Reader(Gunzip(PiecewiseSource(b"".join(members)[:cut], sizes)))
    got = bytearray()
    with pytest.raises(pipe.Truncated) as caught:
        for chunk in VIEWS["chunks"](reader):
            got += chunk
    assert caught.value.offset == (0 if cut < len(members[0]) else len(members[0]))
    assert (caught.value.channel, caught.value.epoch) == ("train", 3)
    assert b"".join(contents).startswith(got)
    assert len(got) >= len(contents[0]) * (cut > len(members[0]))


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"plain text", 0),
        (gzip.compress(b"x") + b"trailing", len(gzip.compress(b"x"))),
        (gzip.compress(b"x" * 100)[:-8] + bytes(8), 0),
        (zlib.compress(b"x"), 0),
    ],
    ids=["no gzip", "no gzip behind it", "wrong checksum", "zlib"],
)
def test_damaged_member_is_reported(tmp_path, data, offset):
    (tmp_path / "data").write_bytes(data)
    with pytest.raises(pipe.Corrupt, match="the gzip member that begins here is damaged") as caught:
        list(pipe.open(str(tmp_path / "data")).gunzip())
    assert caught.value.offset == offset


def test_memory_is_bounded_at_any_ratio(tmp_path):
    """A thousandfold ratio must neither fill memory nor keep a stop waiting."""
    (tmp_path / "data").write_bytes(gzip.compress(bytes(300 << 20), 1))
    stream = pipe.open(str(tmp_path / "data")).gunzip()
    assert max(len(chunk) for chunk in stream.chunks()) <= 256 << 10
    assert stream.reader.offset == 300 << 20


def test_closed_stream_ends_inside_a_member(tmp_path):
    import os

    os.mkfifo(tmp_path / "train_0")
    writer = Writer(tmp_path / "train_0", [gzip.compress(random.Random(1).randbytes(1 << 20))] * 50)
    with pipe.open(str(tmp_path / "train_0")).gunzip() as stream:
        next(stream.chunks())
    writer.join()
    assert writer.broken
    assert list(stream.chunks()) == []
