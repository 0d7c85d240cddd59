"""Random readers and writers: correct data and no hangs."""

import contextlib
import os
import random
import threading
import time

import pytest

from smspec_runtime import pipe
from smspec_runtime.pipe.stop_waits import Wake
from smspec_runtime.pipe.stream import Stream
from support.pipe import pipe_formats as formats
from support.pipe.fifo_writers import Writer, descriptors_of, eventually

PATIENCE = 0.2
DEADLINE = 20


class Scenario:
    """Channels with a writer each, one way to read them, and perhaps a stop on the way."""

    def __init__(self, directory, seed):
        self.chance = random.Random(seed)
        self.wake = Wake()
        self.streams, self.expected, self.writers = {}, {}, []
        for number in range(self.chance.randint(1, 4)):
            self.channel(directory, f"channel{number}")

    def channel(self, directory, name):
        chance = self.chance
        records = [chance.randbytes(chance.choice([0, 1, 50, 3000, 70000])) for _ in range(chance.randint(0, 25))]
        data = b"".join(map(formats.recordio, records))
        if chance.random() < 0.2:
            data = data[: chance.randint(0, len(data))]  # a writer that dies
        size = chance.choice([1 + len(data) // 9, 100000])
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        path = os.path.join(directory, f"{name}_0")
        fate = chance.random()
        if fate < 0.9:  # else nobody makes the FIFO
            os.mkfifo(path)
        if fate < 0.8:  # else nobody writes
            options = {"pause": chance.choice([0, 0, 0.002]), "delay": chance.choice([0, 0, 0.02])}
            self.writers.append(Writer(path, pieces, **options))
        prefetch = chance.choice([0, 0, 700, 4096, 1 << 20])
        self.streams[name] = Stream(
            path, "recordio", (), prefetch, PATIENCE, PATIENCE, channel=name, epoch=0, wake=self.wake
        )
        self.expected[name] = records

    def read(self):
        """Read in one of the ways; return what came, by channel."""
        got = {name: [] for name in self.streams}
        way = self.chance.choice(["one after another", "in turn", "merged", "merged"])
        leave = self.chance.choice([None, None, self.chance.randint(0, 40)])
        if self.chance.random() < 0.2:
            threading.Timer(self.chance.random() / 5, self.wake.stop).start()
        with contextlib.suppress(pipe.TimedOut, pipe.Truncated):
            for count, (name, record) in enumerate(self.items(way)):
                got[name].append(record)
                if count == leave:
                    break
        return got

    def items(self, way):
        if way == "merged":
            yield from pipe.merge(self.streams)
        elif way == "in turn":
            for records in zip(*self.streams.values(), strict=False):
                yield from zip(self.streams, records, strict=True)
        else:
            for name, stream in self.streams.items():
                for record in stream:
                    yield name, record

    def close(self):
        for stream in self.streams.values():
            stream.close()


@pytest.mark.parametrize("seed", range(30))
def test_random_scenarios_read_right_and_end(tmp_path, seed):
    scenario = Scenario(str(tmp_path), seed)
    results = []

    def work():
        results.append(scenario.read())
        scenario.close()

    reader = threading.Thread(target=work, daemon=True)
    began = time.monotonic()
    reader.start()
    reader.join(DEADLINE)
    assert not reader.is_alive(), "a deadlock"
    assert time.monotonic() - began < DEADLINE
    (got,) = results
    for name, records in got.items():
        assert records == scenario.expected[name][: len(records)]
        assert descriptors_of(scenario.streams[name].origin.path) <= any(
            writer.path == scenario.streams[name].origin.path for writer in scenario.writers
        )
    for writer in scenario.writers:
        while not writer.connected.wait(0.01):  # it came after its reader had gone
            os.close(os.open(writer.path, os.O_RDONLY | os.O_NONBLOCK))
        writer.join()
    eventually(lambda: not any(t.name.startswith("smspec") for t in threading.enumerate()), "the threads to end")
