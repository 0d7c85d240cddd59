"""Several channels at once: no waiting on each other, no starvation, and no deadlock."""

import os
import signal
import threading
import time

import pytest

from smspec_runtime import pipe
from smspec_runtime.pipe.reader import CHUNK
from smspec_runtime.pipe.stop_waits import Wake
from smspec_runtime.pipe.stream import Stream
from support.pipe import pipe_formats as formats
from support.pipe.fifo_writers import Writer, descriptors_of, eventually

PREFETCH = pytest.mark.parametrize("prefetch", [0, 1 << 20], ids=["plain", "prefetch"])


@pytest.fixture
def channels(tmp_path):
    """Make FIFOs by name, with a stream each; ``writers`` holds who fills them."""

    class Channels(dict):
        def __init__(self):
            super().__init__()
            self.writers = {}
            self.wake = Wake()

        def feed(self, name, pieces, read="recordio", prefetch=0, **options):
            path = tmp_path / f"{name}_0"
            os.mkfifo(path)
            self[name] = Stream(str(path), read, (), prefetch, 20, 20, channel=name, epoch=0, wake=self.wake)
            if pieces is not None:
                self.writers[name] = Writer(path, pieces, **options)

        def path(self, name):
            return self[name].origin.path

    made = Channels()
    yield made
    for stream in made.values():
        stream.close()


def of(name, items):
    return [item for channel, item in items if channel == name]


@PREFETCH
def test_merge_keeps_the_order_of_each_channel(channels, prefetch):
    records = {name: [b"%s %d" % (name.encode(), i) for i in range(500)] for name in ("a", "b", "c")}
    for name, pause in (("a", 0), ("b", 0.001), ("c", 0)):
        channels.feed(name, map(formats.recordio, records[name]), pause=pause, prefetch=prefetch)
    channels.feed("empty", [], prefetch=prefetch)
    items = list(pipe.merge(channels))
    assert {name: of(name, items) for name in channels} == {**records, "empty": []}
    assert {stream.end for stream in channels.values()} == {"eof"}


def test_merge_uses_the_views_of_the_streams(channels):
    channels.feed("lines", [b"1\n2\n"], "lines")
    channels.feed("chunks", [b"bytes"], "chunks")
    channels.feed("rows", [b"a,b\n"])
    channels["rows"].csv()
    channels.feed("many", [b"1\n2\n3\n"], "jsonlines")
    items = list(pipe.merge(dict(channels)))
    assert of("lines", items) == [b"1\n", b"2\n"]
    assert of("chunks", items) == [b"bytes"]
    assert type(of("chunks", items)[0]) is bytes
    assert of("rows", items) == [["a", "b"]]
    assert of("many", items) == [1, 2, 3]


@PREFETCH
@pytest.mark.parametrize("state", ["no writer", "no byte", "inside a record"])
def test_waiting_channel_does_not_delay_others(channels, prefetch, state):
    channels.feed("quick", map(formats.recordio, [bytes(1000)] * 5000), prefetch=prefetch)
    go = threading.Event()

    def pieces():
        if state == "inside a record":
            yield formats.recordio(b"late")[:10]
        go.wait(30)
        yield formats.recordio(b"late")[10 * (state == "inside a record") :]

    channels.feed("slow", None if state == "no writer" else pieces(), prefetch=prefetch)
    items = pipe.merge(channels)
    assert [next(items)[0] for _ in range(5000)] == ["quick"] * 5000
    go.set()
    if state == "no writer":
        Writer(channels.path("slow"), pieces())
    assert list(items) == [("slow", b"late")]


def test_ready_channels_share_equally(channels):
    """Jain's index over the bytes of each when the first one ends: 1 is equal, 1/n one for all."""
    for name in "abcd":
        channels.feed(name, [bytes(1 << 16)] * 200, "chunks")
    totals = dict.fromkeys(channels, 0)
    for name, chunk in pipe.merge(channels):
        totals[name] += len(chunk)
        if totals[name] == 200 << 16:
            break
    jain = sum(totals.values()) ** 2 / (4 * sum(total**2 for total in totals.values()))
    assert jain > 0.8, totals


def test_slow_consumer_throttles_the_writers(channels):
    """Memory is bounded: turns that wait, the pipe, and no more."""
    for name in "ab":
        channels.feed(name, map(formats.recordio, [bytes(4000)] * 4000))
    items = pipe.merge(channels)
    next(items)
    time.sleep(0.4)  # Nothing to wait for: the point is that no more comes in.
    for name, stream in channels.items():
        assert stream.stats.bytes <= 5 * CHUNK
        assert channels.writers[name].written <= 5 * CHUNK + (1 << 20)
    assert len(list(items)) == 7999


@PREFETCH
def test_closing_ends_all_streams_and_threads(channels, prefetch):
    for name in "abc":
        channels.feed(name, [bytes(1 << 20)] * 64, "chunks", prefetch)
    for _ in pipe.merge(channels):
        break
    for name, writer in channels.writers.items():
        writer.join(5)
        assert writer.broken
        assert descriptors_of(channels.path(name)) == 0
    assert {stream.end for stream in channels.values()} == {"closed"}
    eventually(lambda: not any(t.name.startswith("smspec") for t in threading.enumerate()), "the threads to end")


@PREFETCH
def test_one_channel_can_be_closed_early(channels, prefetch):
    channels.feed("long", iter(lambda: formats.recordio(bytes(1000)), None), prefetch=prefetch)
    channels.feed("short", map(formats.recordio, [b"x"] * 100), pause=0.001, prefetch=prefetch)
    items, closed = [], False
    for name, item in pipe.merge(channels):
        assert not (closed and name == "long")
        items.append((name, item))
        if name == "long" and not closed:
            channels["long"].close()
            closed = True
    assert len(of("short", items)) == 100
    channels.writers["long"].join()
    assert channels.writers["long"].broken


@PREFETCH
def test_stop_ends_merge_at_the_next_item(channels, prefetch):
    channels.feed("waiting", None, prefetch=prefetch)
    channels.feed("flowing", iter(lambda: formats.recordio(bytes(1000)), None), prefetch=prefetch)
    items = pipe.merge(channels)
    next(items)
    channels.wake.stop()
    assert list(items) == []
    assert {stream.end for stream in channels.values()} == {"stopped"}


def test_stop_ends_a_wait_for_all_channels(channels):
    for name in "ab":
        channels.feed(name, None)
    threading.Timer(0.1, channels.wake.stop).start()
    assert list(pipe.merge(channels)) == []
    assert all(stream.stopped for stream in channels.values())


def test_fault_follows_the_items_before_it(channels):
    channels.feed("good", map(formats.recordio, [b"x"] * 10), linger=0.2)
    channels.feed("bad", [formats.recordio(b"first") + b"nonsense"])
    items = []
    with pytest.raises(pipe.Corrupt, match="channel `bad`, epoch 0, byte 16"):
        items.extend(pipe.merge(channels))
    assert of("bad", items) in ([b"first"], [])  # extend keeps what it has
    assert channels["good"].end in ("eof", "closed")


def test_timeout_names_the_waiting_channel(channels):
    channels.feed("good", map(formats.recordio, [b"x"] * 10))
    channels.feed("bad", None)
    channels["bad"] = Stream(channels.path("bad"), open_timeout=0.2, channel="bad", epoch=0, wake=channels.wake)
    with pytest.raises(
        pipe.TimedOut, match=r"channel `bad`, epoch 0, byte 0: FIFO is open, no byte has come for 0\.2 s"
    ):
        list(pipe.merge(channels))


def test_forked_worker_does_not_disturb_the_merge(channels):
    """The threads stay with the parent; a copy of the iteration just ends, and closing it closes nothing here."""
    for name in "ab":
        channels.feed(name, [formats.recordio(bytes(1000))] * 200, pause=0.001)
    items = pipe.merge(channels)
    next(items)
    worker = os.fork()
    if not worker:
        status = 1
        try:
            list(items)
            items.close()
            for stream in channels.values():
                stream.close()
            status = 0
        finally:
            os._exit(status)
    deadline = time.monotonic() + 20
    ended = (0, 0)
    while ended[0] == 0 and time.monotonic() < deadline:
        ended = os.waitpid(worker, os.WNOHANG)
        time.sleep(0.01)
    if ended[0] == 0:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
    assert ended == (worker, 0)
    assert len(list(items)) == 399


def test_zip_reads_channels_in_step(channels):
    channels.feed("features", map(formats.recordio, [b"f%d" % i for i in range(100)]), prefetch=4096)
    channels.feed("labels", map(formats.recordio, [b"l%d" % i for i in range(100)]), prefetch=4096)
    pairs = list(zip(channels["features"], channels["labels"], strict=True))
    assert pairs == [(b"f%d" % i, b"l%d" % i) for i in range(100)]


def test_simultaneous_waits_are_counted_once(channels):
    """Two channels that wait side by side for 0.3 s have made the handler wait for 0.3 s, not 0.6."""
    for name in "ab":
        channels.feed(name, [formats.recordio(b"x")], delay=0.3)
    began = time.monotonic()
    list(pipe.merge(channels))
    took = time.monotonic() - began
    assert 0.2 < sum(stream.stats.waited for stream in channels.values()) <= took + 0.01
