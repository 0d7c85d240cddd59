"""Streams apart from views: batches, buffers, files, and statistics."""

import os
import subprocess
import sys
import time

import pytest

from smspec_runtime import pipe
from support.pipe import pipe_formats as formats
from support.pipe.fifo_writers import Writer, eventually
from support.pipe.pipe_host import RUNTIME


@pytest.fixture
def path(tmp_path):
    (tmp_path / "data").write_bytes(b"".join(b"%d\n" % i for i in range(1000)))
    return str(tmp_path / "data")


def test_iteration_uses_the_selected_view(path):
    assert list(pipe.open(path, read="jsonlines")) == list(range(1000))
    assert list(pipe.open(path, read="lines"))[-1] == b"999\n"
    assert b"".join(map(bytes, pipe.open(path)))[-4:] == b"999\n"


def test_unknown_view_is_rejected(path):
    with pytest.raises(ValueError, match="no view `line`; there is chunks, lines"):
        pipe.open(path, read="line")
    with pytest.raises(ValueError, match="no view `line`; there is chunks, lines"):
        pipe.open(path).batches(2, "line")


def test_batches_have_the_requested_size(path):
    batches = list(pipe.open(path, read="jsonlines").batches(300))
    assert [len(batch) for batch in batches] == [300, 300, 300, 100]
    assert [number for batch in batches for number in batch] == list(range(1000))
    assert [len(batch) for batch in pipe.open(path).batches(600, "lines")] == [600, 400]
    with pytest.raises(ValueError, match="a batch of 0 items"):
        pipe.open(path).batches(0)


def test_batch_of_chunks_survives_the_next(tmp_path):
    data = formats.pattern(1 << 20)
    (tmp_path / "data").write_bytes(data)
    batches = list(pipe.open(str(tmp_path / "data")).batches(3))
    assert {type(chunk) for batch in batches for chunk in batch} == {bytes}
    assert b"".join(chunk for batch in batches for chunk in batch) == data


def test_interrupted_loop_continues(path):
    stream = pipe.open(path, read="jsonlines")
    for number in stream:
        if number == 9:
            break
    assert next(iter(stream)) == 10


def test_stream_has_one_view(path):
    stream = pipe.open(path)
    next(stream.lines())
    with pytest.raises(ValueError, match="being read as `lines`, so it cannot be read as `csv`"):
        stream.csv()
    with pytest.raises(ValueError, match="cannot be read as `chunks`"):
        stream.readinto(bytearray(10))
    with pytest.raises(ValueError, match="cannot be read as `file`"):
        stream.file()


def test_readinto_serves_the_published_loop(tmp_path):
    data = formats.pattern(3 << 20)
    os.mkfifo(tmp_path / "train_0")
    writer = Writer(tmp_path / "train_0", [data])
    stream = pipe.open(str(tmp_path / "train_0"))
    buffer = bytearray(1 << 20)
    assert stream.readinto(bytearray(0)) == 0
    read = bytearray(next(stream.chunks()))
    while True:
        count = stream.readinto(buffer)
        if not count:
            break
        read += buffer[:count]
    assert read == data
    assert stream.stats.bytes == len(data)
    writer.join()


def test_readinto_accepts_any_buffer(path):
    from array import array

    numbers = array("I", [0] * 2)
    assert pipe.open(path).readinto(numbers) == 8
    assert numbers.tobytes() == b"0\n1\n2\n3\n"


def test_file_serves_other_libraries(path):
    import io

    stream = pipe.open(path)
    with stream.file() as file:
        assert file.readline() == b"0\n"
        assert file.read(4) == b"1\n2\n"
        assert file is stream.file()
        assert not file.seekable()
        text = io.TextIOWrapper(file)
        assert sum(map(int, text)) == sum(range(3, 1000))
    assert stream.end == "eof"


def test_closing_the_file_closes_the_stream(tmp_path):
    os.mkfifo(tmp_path / "train_0")
    writer = Writer(tmp_path / "train_0", [bytes(1 << 20)] * 64)
    with pipe.open(str(tmp_path / "train_0")).file() as file:
        file.read(10)
    writer.join()
    assert writer.broken


def test_stats_count_bytes_and_waits(tmp_path):
    path = tmp_path / "train_0"
    os.mkfifo(path)
    writer = Writer(path, [bytes(1000), bytes(1000)], pause=0.1)
    with pipe.open(str(path)) as stream:
        assert (stream.stats.bytes, stream.stats.seconds, stream.stats.opened) == (0, 0.0, 0)
        assert sum(map(len, stream)) == 2000
        stats = stream.stats
    writer.join()
    assert stats.bytes == 2000
    assert stats.reads >= 3
    assert 0.15 < stats.seconds < 60
    assert 0.15 < stats.starved <= stats.seconds
    assert stats.mb_per_s == pytest.approx(0.002 / stats.seconds)
    time.sleep(0.05)
    assert stats.as_dict()["seconds"] == pytest.approx(stats.seconds, abs=1e-5)  # the clock has stopped
    assert repr(stream) == f"<Stream of `{path}`: 2000 bytes, eof>"


def test_prefetch_reads_ahead_within_its_ring(tmp_path):
    """Data comes in while the handler works; memory stays within what the job spec grants."""
    path = tmp_path / "train_0"
    os.mkfifo(path)
    writer = Writer(path, [bytes(1 << 16)] * 256)
    with pipe.open(str(path), prefetch=4 << 20) as stream:
        first = len(next(stream.chunks()))
        eventually(lambda: stream.stats.bytes > first, "the thread to read ahead")
        time.sleep(0.5)  # Nothing to wait for: the point is that no more comes in.
        assert stream.stats.bytes <= 5 << 20
        assert sum(map(len, stream)) > 0
        assert stream.stats.bytes == 16 << 20
    assert stream.stats.backpressure > 0.05
    writer.join()


def test_prefetch_fills_its_ring_from_small_writes(tmp_path):
    """A slow network delivers in small pieces; they must add up while the handler works."""
    path = tmp_path / "train_0"
    os.mkfifo(path)
    writer = Writer(path, [formats.pattern(5000)] * 400)
    with pipe.open(str(path), prefetch=1 << 20) as stream:
        data = bytes(next(stream.chunks()))
        eventually(lambda: stream.stats.bytes > (3 << 18), "the ring to fill")
        data += b"".join(map(bytes, stream.chunks()))
    assert data == formats.pattern(5000) * 400
    writer.join()


@pytest.mark.parametrize("prefetch", [1, 2, 7, 4096])
def test_ring_may_have_any_size(tmp_path, prefetch):
    data = formats.pattern(10000)
    (tmp_path / "data").write_bytes(data)
    assert b"".join(map(bytes, pipe.open(str(tmp_path / "data"), prefetch=prefetch).chunks())) == data


READ = r"""
import re, sys
from smspec_runtime import pipe
rss = lambda: int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) >> 10
stream = pipe.open(sys.argv[1], read="recordio", prefetch=int(sys.argv[2]))
open("/proc/self/clear_refs", "w").write("5")  # forget the peak of the imports
before = rss()
total = sum(map(len, stream))
print(total, rss() - before)
"""


@pytest.mark.parametrize("prefetch", [0, 16 << 20], ids=["plain", "prefetch"])
def test_memory_is_independent_of_the_stream(tmp_path, prefetch):
    """At most 2 MiB, the largest record and the prefetch, for a short stream and for one five times as long."""
    block = formats.recordio(bytes(1000)) * 1000
    largest = formats.recordio(bytes(8 << 20))
    for repetitions in (60, 300):
        path = tmp_path / f"train_{repetitions}"
        os.mkfifo(path)
        writer = Writer(path, [largest, *[block] * repetitions])
        words = [sys.executable, "-c", READ, str(path), str(prefetch)]
        environment = dict(os.environ, PYTHONPATH=str(RUNTIME))
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=True)
        writer.join()
        total, mebibytes = map(int, done.stdout.split())
        assert total == (8 << 20) + repetitions * 1_000_000
        assert mebibytes <= 2 + 8 + (prefetch >> 20)


def test_errors_can_be_pickled():
    import pickle

    error = pipe.Truncated(pipe.open("/nowhere").origin, 7, "the data ends")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.offset, copy.channel) == ("`/nowhere`, byte 7: the data ends", 7, None)
