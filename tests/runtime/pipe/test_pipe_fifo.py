"""A FIFO in every state: missing, silent, slow, cut, shared, and abandoned."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from smspec_runtime import pipe
from smspec_runtime.pipe.fifo import F_GETPIPE_SZ, PIPE_SIZE, enlarge
from smspec_runtime.pipe.stop_waits import Wake
from smspec_runtime.pipe.stream import Stream
from support.pipe import pipe_formats as formats
from support.pipe.fifo_writers import Writer, descriptors_of, eventually

PREFETCH = pytest.mark.parametrize("prefetch", [0, 1 << 20], ids=["plain", "prefetch"])


@pytest.fixture
def fifo(tmp_path):
    os.mkfifo(tmp_path / "train_0")
    return str(tmp_path / "train_0")


def stream_of(path, prefetch=0, wake=None, read="chunks", **timeouts):
    return Stream(path, read, (), prefetch, **timeouts, channel="train", epoch=0, wake=wake)


def content(stream):
    return b"".join(map(bytes, stream.chunks()))


@PREFETCH
def test_fifo_may_be_created_later(tmp_path, prefetch):
    """If the file for a given epoch doesn't exist yet, your code may need to retry until the pipe is created."""
    path = str(tmp_path / "train_0")
    writer = Writer(path, [b"late"], create=True, delay=0.3)
    stream = stream_of(path, prefetch)
    assert content(stream) == b"late"
    assert stream.stats.wait_exists > 0.01
    writer.join()


@PREFETCH
def test_writer_may_come_later(fifo, prefetch):
    """Before a writer opens the FIFO, a read would look like the end of the data."""
    writer = Writer(fifo, [b"late"], delay=0.3)
    stream = stream_of(fifo, prefetch)
    assert content(stream) == b"late"
    assert stream.stats.wait_first_byte > 0.01
    assert stream.end == "eof"
    writer.join()


@PREFETCH
@pytest.mark.parametrize("linger", [0, 0.1])
def test_epoch_without_data_is_empty(fifo, prefetch, linger):
    """Some nodes of the cluster won't get any data (ShardedByS3Key with more hosts than objects)."""
    writer = Writer(fifo, [], linger=linger)
    stream = stream_of(fifo, prefetch)
    assert content(stream) == b""
    assert (stream.end, stream.stats.bytes) == ("eof", 0)
    writer.join()


@PREFETCH
def test_single_bytes_are_read(fifo, prefetch):
    data = formats.recordio(b"slow") + formats.recordio(b"and steady")
    writer = Writer(fifo, [data[i : i + 1] for i in range(len(data))], pause=0.001)
    assert list(stream_of(fifo, prefetch).recordio()) == [b"slow", b"and steady"]
    writer.join()


@PREFETCH
def test_record_is_returned_once_complete(fifo, prefetch):
    """No item waits for a buffer to fill."""
    given = threading.Event()
    in_time = []

    def pieces():
        yield formats.recordio(b"one")
        in_time.append(given.wait(10))
        yield formats.recordio(b"two")

    writer = Writer(fifo, pieces())
    records = stream_of(fifo, prefetch).recordio()
    assert next(records) == b"one"
    given.set()
    assert list(records) == [b"two"]
    assert in_time == [True]
    writer.join()


@PREFETCH
def test_records_larger_than_every_buffer_are_read(fifo, prefetch):
    large = formats.pattern(5 << 20)
    writer = Writer(fifo, [formats.recordio(large), formats.recordio(b"small"), formats.recordio(large)])
    assert list(stream_of(fifo, prefetch).recordio()) == [large, b"small", large]
    writer.join()


@PREFETCH
def test_writer_dying_inside_a_record_is_reported(fifo, prefetch):
    """EOF after a crash looks like a clean end; the framing shows the difference."""
    script = "import sys, time; f = open({!r}, 'wb', 0); f.write({!r}); print(); time.sleep(60)"
    data = formats.recordio(b"whole") + formats.recordio(b"broken")[:12]
    child = subprocess.Popen([sys.executable, "-uc", script.format(fifo, data)], stdout=subprocess.PIPE)
    try:
        records = stream_of(fifo, prefetch).recordio()
        assert next(records) == b"whole"
        child.stdout.readline()
        child.kill()
        with pytest.raises(pipe.Truncated) as caught:
            next(records)
    finally:
        child.kill()
        child.communicate()
    assert (
        str(caught.value) == "channel `train`, epoch 0, byte 16: the data ends inside a RecordIO record, after 12 bytes"
    )


@PREFETCH
def test_closing_early_releases_the_writer(fifo, prefetch):
    """If you are done with the first epoch, close the pipe file early."""
    writer = Writer(fifo, [bytes(1 << 20)] * 64)
    with stream_of(fifo, prefetch) as stream:
        next(stream.chunks())
    closed = time.monotonic()
    writer.join()
    assert writer.broken
    assert writer.broken_at - closed < 10  # without that, for ever
    assert stream.end == "closed"
    assert descriptors_of(fifo) == 0
    assert list(stream.chunks()) == []


@PREFETCH
def test_unreferenced_stream_releases_its_writer(fifo, prefetch):
    writer = Writer(fifo, [bytes(1 << 20)] * 64)
    next(iter(stream_of(fifo, prefetch)))
    writer.join()
    assert writer.broken


@PREFETCH
def test_closing_before_reading_opens_no_fifo(fifo, prefetch):
    stream = stream_of(fifo, prefetch)
    stream.close()
    assert (list(stream), stream.stats.opened, stream.end) == ([], 0, "closed")


def test_forked_worker_does_not_hold_the_writer(fifo):
    """A worker inherits the descriptor; the reader's close must still reach the writer."""
    writer = Writer(fifo, [bytes(1 << 20)] * 64)
    stream = stream_of(fifo)
    next(stream.chunks())
    parent, child = os.pipe()
    worker = os.fork()
    if not worker:
        os.write(child, b"%d" % len(list(stream.chunks())))
        time.sleep(60)
        os._exit(0)
    try:
        assert os.read(parent, 10) == b"0"  # the worker has nothing to read, and knows it
        assert next(stream.chunks())
        stream.close()
        writer.join(5)
        assert writer.broken
    finally:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)


@PREFETCH
def test_second_reader_is_rejected(fifo, prefetch):
    """Each pipe may only be read by a single process."""
    writer = Writer(fifo, [bytes(1 << 20)] * 4)
    first = stream_of(fifo)
    read = len(next(first.chunks()))
    with pytest.raises(pipe.InUse, match="a FIFO is for one process"):
        list(stream_of(fifo, prefetch))
    assert read + sum(map(len, first.chunks())) == 4 << 20  # and has taken nothing from the first
    writer.join()


def test_pipe_is_enlarged(fifo):
    writer = Writer(fifo, [b"x"], linger=0.2)
    stream = stream_of(fifo)
    next(stream.chunks())
    with open("/proc/sys/fs/pipe-max-size") as file:
        assert stream.stats.pipe_size == min(PIPE_SIZE, int(file.read()))
    writer.join()


def test_pipe_size_falls_back_to_what_is_granted():
    """An unprivileged user may have 64 pipes of 1 MiB; beyond that EPERM, and less."""
    child = os.fork()
    if not child:
        status = 1
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            pipes = [os.pipe() for _ in range(80)]
            sizes = [enlarge(reader) for reader, _ in pipes]
            assert sizes == [fcntl.fcntl(reader, F_GETPIPE_SZ) for reader, _ in pipes]
            assert min(sizes) < max(sizes) == PIPE_SIZE
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@PREFETCH
def test_regular_file_is_one_epoch(tmp_path, prefetch):
    path = tmp_path / "data"
    path.write_bytes(b"a\nb\n")
    assert list(pipe.open(str(path), read="lines", prefetch=prefetch)) == [b"a\n", b"b\n"]
    with pipe.open(str(path)) as one, pipe.open(str(path)) as two:
        assert content(one) == content(two)


def test_empty_file_is_an_empty_epoch(tmp_path):
    (tmp_path / "data").touch()
    assert content(pipe.open(str(tmp_path / "data"))) == b""


def test_directory_is_not_a_fifo(tmp_path):
    with pytest.raises(pipe.PipeError, match="is a directory, not a FIFO"):
        list(pipe.open(str(tmp_path)))


@PREFETCH
class TestTimeouts:
    """Every wait ends with a reason."""

    def test_timeout_covers_the_missing_fifo(self, tmp_path, prefetch):
        path = str(tmp_path / "train_0")
        with pytest.raises(pipe.TimedOut) as caught:
            content(stream_of(path, prefetch, open_timeout=0.1))
        assert str(caught.value) == f"channel `train`, epoch 0, byte 0: `{path}` does not exist for 0.1 s: gave up"

    def test_timeout_covers_the_missing_writer(self, fifo, prefetch):
        with pytest.raises(pipe.TimedOut, match="no byte has come for"):
            content(stream_of(fifo, prefetch, open_timeout=0.1))
        assert descriptors_of(fifo) == 0

    def test_timeout_covers_the_first_byte(self, fifo, prefetch):
        writer = Writer(fifo, [], linger=0.5)
        with pytest.raises(pipe.TimedOut, match="byte 0: FIFO is open, no byte has come"):
            content(stream_of(fifo, prefetch, open_timeout=0.1))
        writer.join()

    def test_timeout_covers_the_next_byte(self, fifo, prefetch):
        writer = Writer(fifo, [b"12345"], linger=0.5)
        chunks = stream_of(fifo, prefetch, idle_timeout=0.1).chunks()
        assert bytes(next(chunks)) == b"12345"
        with pytest.raises(
            pipe.TimedOut, match="byte 5: FIFO is open, its writer connected, no further byte"
        ) as caught:
            next(chunks)
        assert isinstance(caught.value, TimeoutError)
        writer.join()

    def test_long_wait_is_reported(self, fifo, prefetch, capfd, monkeypatch):
        monkeypatch.setattr("smspec_runtime.pipe.fifo.TELL", 0.05)
        monkeypatch.setattr("smspec_runtime.pipe.fifo.LOOK_UP", 0.05)
        writer = Writer(fifo, [b"x"], delay=0.3)
        assert content(stream_of(fifo, prefetch)) == b"x"
        assert (
            "smspec: channel `train`, epoch 0, byte 0: FIFO is open, no byte has come for 0 s" in capfd.readouterr().err
        )
        writer.join()


@PREFETCH
class TestStop:
    """A stop ends any wait immediately and any iteration at its next item, without an error."""

    def stopped(self, stream, wake, after):
        """Read until the end, with a stop on the way; return how long after the stop the end came."""
        times = []
        threading.Timer(after, lambda: (times.append(time.monotonic()), wake.stop())).start()
        items = list(stream)
        assert stream.stopped
        return items, time.monotonic() - times[0]

    def test_stop_ends_a_wait_for_the_fifo(self, tmp_path, prefetch):
        wake = Wake()
        _, seconds = self.stopped(stream_of(str(tmp_path / "train_0"), prefetch, wake), wake, 0.1)
        assert seconds < 20

    def test_stop_ends_a_wait_for_the_writer(self, fifo, prefetch):
        wake = Wake()
        _, seconds = self.stopped(stream_of(fifo, prefetch, wake), wake, 0.1)
        assert seconds < 20

    def test_stop_ends_a_wait_for_data(self, fifo, prefetch):
        wake = Wake()
        writer = Writer(fifo, [formats.recordio(b"one") + b"cut"], linger=1)
        items, seconds = self.stopped(stream_of(fifo, prefetch, wake, "recordio"), wake, 0.2)
        assert items == [b"one"]  # no complaint about the record that was on its way
        assert seconds < 20
        writer.join()

    def test_stop_ends_an_endless_stream(self, fifo, prefetch):
        wake = Wake()
        forever = iter(lambda: bytes(1 << 16), None)
        writer = Writer(fifo, forever)
        stream = stream_of(fifo, prefetch, wake)
        threading.Timer(0.1, wake.stop).start()
        assert sum(map(len, stream)) > 0
        stream.close()
        writer.join()
        assert writer.broken

    @pytest.mark.parametrize("view", ["lines", "recordio", "jsonlines", "csv", "recordio_protobuf"])
    def test_stop_ends_between_buffered_items(self, tmp_path, prefetch, view):
        """A handler that takes a second per item must not be given the rest of a chunk."""
        data = {
            "lines": b"1\n",
            "jsonlines": b"1\n",
            "csv": b'"1","2"\n',
            "recordio": formats.recordio(b"1"),
            "recordio_protobuf": formats.recordio(formats.record({}, {})),
        }
        path = tmp_path / "data"
        path.write_bytes(data[view] * 1000)
        for end in ("stop", "close"):
            wake = Wake()
            stream = stream_of(str(path), prefetch, wake, view)
            items = iter(stream)
            assert next(items)
            wake.stop() if end == "stop" else stream.close()
            assert list(items) == []

    def test_stop_before_reading_ends_at_once(self, fifo, prefetch):
        wake = Wake()
        wake.stop()
        stream = stream_of(fifo, prefetch, wake)
        assert (list(stream), stream.stopped, stream.stats.opened) == ([], True, 0)


def test_many_epochs_leak_no_descriptors(tmp_path):
    def descriptors():
        return len(os.listdir("/proc/self/fd"))

    before = None
    for epoch in range(30):
        path = str(tmp_path / f"train_{epoch}")
        writer = Writer(path, [b"data"], create=True)
        for prefetch in [0, 4096][epoch % 2 :][:1]:
            stream = stream_of(path, prefetch)
            assert content(stream) == b"data"
            stream.close()
        writer.join()
        if epoch == 9:
            before = descriptors()
    del stream
    eventually(lambda: descriptors() <= before + 4, "descriptors to be closed", 5)
