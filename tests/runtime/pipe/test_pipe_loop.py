"""The pipe loop as SageMaker runs it, with a process, FIFOs, and signals."""

import os
import re

import pytest

from support.pipe import pipe_formats as formats
from support.pipe.fifo_writers import Writer, eventually
from support.pipe.pipe_host import LINE

COUNTING = """
    import os

    class Handler:
        def begin(self, job):
            self.seen = []

        def epoch(self, job, epoch, streams):
            self.seen.append("%d:%s" % (epoch, b"".join(map(bytes, streams["train"])).decode()))

        def end(self, job):
            with open(os.path.join(job.model_dir, "seen"), "w") as file:
                file.write(" ".join(self.seen) + (" stopped" if job.stopping else ""))
"""


def test_handler_runs_on_every_interpreter(host, any_python):
    job = host(COUNTING, python=any_python, epochs=3)
    job.feed("train", [b"a"], [], [b"c", b"c"])
    assert job.start().end() == 0, job.err
    assert job.model() == "0:a 1: 2:cc"
    assert job.lines() == [(0, 1, None), (1, 0, None), (2, 2, None)]
    assert job.err == ""


VIEWING = """
    def handler(job, epoch, streams):
        lines, objects = streams["lines"], streams["objects"]
        print(list(lines), [sorted(item.items()) for item in objects])
        print([[float(x) for x in record.features["values"].values] for record in streams["examples"]])
        print(next(streams["members"].batches(5)), [row["a"] for row in streams["rows"].jsonlines()])
        print(list(streams["table"]), list(streams["tf"]), streams["rows"].stats.bytes)
"""


def test_every_view_runs_on_every_interpreter(host, any_python):
    data = {
        "lines": b"one\ntwo",
        "objects": b"".join(map(formats.recordio, [b"image", b"1"])),
        "examples": formats.recordio(formats.record({"values": formats.tensor("f", [1, 2.5])}, {})),
        "members": formats.tar([("name", b"content")]),
        "rows": b'{"a": 1}\n{"a": 2}\n',
        "table": b'a,"b\nb"\n',
        "tf": formats.tfrecord(b"payload"),
    }
    read = {
        "lines": "lines",
        "objects": "augmented",
        "examples": "recordio_protobuf",
        "members": "tar",
        "tf": "tfrecord",
    }
    read.update(rows="jsonlines", table="csv")
    job = host(VIEWING, channels=data, python=any_python, read=read, attributes={"objects": ["image-ref", "label"]})
    for channel, content in data.items():
        job.feed(channel, [content])
    assert job.start("author:handler").end() == 0, job.err
    assert job.out.splitlines()[:4] == [
        "[b'one\\n', b'two'] [[('image-ref', b'image'), ('label', b'1')]]",
        "[[1.0, 2.5]]",
        "[Member(name='name', data=b'content')] [1, 2]",
        "[['a', 'b\\nb']] [b'payload'] 18",
    ]
    assert {(channel, count) for _, count, channel in job.lines()} == {
        (name, len(content)) for name, content in data.items()
    }


def test_epoch_line_contains_its_figures(host):
    job = host(COUNTING.replace('"train"', '"my-data"'), channels=["my-data", "side"])
    job.feed("my-data", [bytes(1 << 20)] * 3)
    assert job.start().end() == 0, job.err
    match = LINE.search(job.out)
    seconds, throughput = float(match[3]), float(match[4])
    (metrics,) = job.metrics()
    assert metrics["bytes"] == 3 << 20
    assert metrics["seconds"] == pytest.approx(seconds, abs=0.006)
    assert throughput == pytest.approx(3 * 2**20 / 1e6 / metrics["seconds"], rel=0.01)
    assert (metrics["channel"], metrics["epoch"], metrics["fifo"], metrics["end"]) == ("my-data", 0, 0, "eof")
    assert metrics["pipe_size"] >= 65536
    assert metrics["wait_exists"] >= 0 and metrics["starved"] >= 0


@pytest.mark.parametrize(
    ("settings", "hyperparameters", "epochs"),
    [({}, {}, 1), ({}, {"epochs": "2"}, 2), ({"epochs": 1}, {"epochs": "7"}, 1), ({}, {"epochs": "0"}, 0)],
)
def test_number_of_epochs_is_respected(host, settings, hyperparameters, epochs):
    job = host(COUNTING, hyperparameters=hyperparameters, **settings)
    job.feed("train", *[[b"x"]] * epochs)
    assert job.start().end() == 0, job.err
    assert len(job.lines()) == epochs


def test_malformed_epochs_are_rejected(host):
    job = host(COUNTING, hyperparameters={"epochs": "many"})
    assert job.start().end() == 1
    assert job.err.endswith("ValueError: the hyperparameter `epochs` is `many`, not a number of epochs\n")


def test_early_end_releases_the_writer(host):
    job = host("def handler(job, epoch, streams):\n    next(iter(streams['train']))\n", epochs=2)
    writers = job.feed("train", *[[bytes(1 << 20)] * 64] * 2)
    assert job.start("author:handler").end() == 0, job.err
    for writer in writers:
        writer.join()
        assert writer.broken
    assert [epoch for epoch, _, _ in job.lines()] == [0, 1]
    assert {metrics["end"] for metrics in job.metrics()} == {"closed"}


def test_channels_are_opened_when_they_are_read(host):
    """Channel types may be read one after another; the writer of the second must not be started by the first."""
    handler = """
        def handler(job, epoch, streams):
            train = iter(streams["train"])
            print(bytes(next(train)), flush=True)
            input_ready = list(train)
            print(list(map(bytes, streams["validation"])), flush=True)
    """
    job = host(handler, channels=["train", "validation"])
    (train,) = job.feed("train", [b"t"], linger=0.3)
    (validation,) = job.feed("validation", [b"v"])
    job.start("author:handler")
    assert train.connected.wait(20)
    assert not validation.connected.is_set()
    train.join()
    assert job.end() == 0, job.err
    assert job.out.startswith("b't'\n[b'v']\n")


def test_unread_channel_keeps_its_fifo(host):
    """A handler that evaluates every second epoch gets the channel's FIFOs one after another."""
    handler = """
        def handler(job, epoch, streams):
            list(streams["train"])
            if epoch % 2:
                print("eval", b"".join(map(bytes, streams["validation"])).decode())
    """
    job = host(handler, channels=["train", "validation"], epochs=4)
    job.feed("train", *[[b"t"]] * 4)
    job.feed("validation", [b"first"], [b"second"])
    assert job.start("author:handler").end() == 0, job.err
    assert re.findall("eval (.*)", job.out) == ["first", "second"]
    assert [epoch for epoch, _, channel in job.lines() if channel == "validation"] == [1, 3]
    assert [m["fifo"] for m in job.metrics() if m["channel"] == "validation"] == [0, 1]


def test_file_channels_have_no_stream(host):
    job = host("def handler(job, epoch, streams):\n    streams['side']\n", channels=["train", "side"])
    assert job.start("author:handler").end() == 1
    assert "`side` is no Pipe channel of this job; there is train" in job.err


def test_handler_error_keeps_its_traceback(host):
    job = host("def handler(job, epoch, streams):\n    raise ValueError('bad weather')\n")
    assert job.start("author:handler").end() == 1
    assert job.err.startswith("Traceback (most recent call last):\n")
    assert job.err.endswith("ValueError: bad weather\n")
    assert 'author.py", line 2, in handler' in job.err


@pytest.mark.parametrize("method", ["__init__(self)", "begin(self, job)", "end(self, job)"])
def test_error_of_any_method_ends_the_job(host, method):
    job = host(f"class Handler:\n    def {method}:\n        raise ValueError('bad weather')\n")
    assert job.start().end() == 1
    assert job.err.startswith("Traceback (most recent call last):\n")
    assert job.err.endswith("ValueError: bad weather\n")


def test_epoch_wait_names_its_channel(host):
    """Data that comes slowly, then a handler that is slow."""
    handler = """
        import time

        def handler(job, epoch, streams):
            for record in streams["train"]:
                time.sleep(0.4 * epoch)
    """
    job = host(handler, epochs=2, read={"train": "recordio"})
    records = [formats.recordio(b"x")] * 2
    job.feed("train", records, records, pause=0.2)
    assert job.start("author:handler").end() == 0, job.err
    data, compute = job.metrics()
    assert (data["verdict"], compute["verdict"]) == ("data-bound", "compute-bound")
    assert (data["records"], compute["records"]) == (2, 2)
    assert compute["computed"] >= 0.8
    assert data["waited"] == pytest.approx(data["wait_exists"] + data["wait_first_byte"] + data["starved"], abs=1e-4)


def test_several_channels_are_read_at_once(host, any_python):
    handler = """
        from smspec_runtime import pipe

        def handler(job, epoch, streams):
            seen = {"a": 0, "b": 0}
            for name, line in pipe.merge(streams):
                seen[name] += int(line)
            print(epoch, *seen.values())
    """
    job = host(handler, channels=["a", "b"], python=any_python, epochs=2, read={"a": "lines", "b": "lines"})
    for channel in "ab":
        job.feed(channel, [b"1\n"] * 50, [b"2\n"] * 50, pause=0.001)
    assert job.start("author:handler").end() == 0, job.err
    assert [line for line in job.out.splitlines() if line[0] in "01"] == ["0 50 50", "1 100 100"]
    assert job.lines() == [(0, 100, "a"), (0, 100, "b"), (1, 100, "a"), (1, 100, "b")]


def test_damaged_record_is_located(host):
    job = host("def handler(job, epoch, streams):\n    list(streams['train'])\n", read={"train": "recordio"}, epochs=2)
    job.feed("train", [formats.recordio(b"good")], [formats.recordio(b"good"), b"bad bad "])
    assert job.start("author:handler").end() == 1
    assert job.err.endswith(
        "Corrupt: channel `train`, epoch 1, byte 12: a RecordIO record: "
        "it begins with 0a23d7ce, here is 62616420 (b'bad ')\n"
    )
    assert job.err.count("Traceback") == 1  # The reader's own faults on the way are nobody's news.
    assert job.lines() == [(0, 12, None)]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("author", "it must be `package.module:name`"),
        ("author:missing", "has no attribute 'missing'"),
        ("nowhere:Handler", "No module named 'nowhere'"),
        ("author:NUMBER", "neither a function nor a class"),
    ],
)
def test_malformed_handlers_are_rejected(host, name, words):
    job = host("NUMBER = 1\n")
    assert job.start(name).end() == 1
    assert words in job.err


def test_methods_are_optional(host):
    job = host("class Handler:\n    def end(self, job):\n        print('ended')\n", epochs=2)
    assert job.start().end() == 0, job.err
    assert job.out == "ended\n"


def test_next_fifo_is_awaited(host):
    """There is no guarantee that the next FIFO is made in advance."""
    job = host(COUNTING, epochs=3).start()
    for epoch in range(3):
        writer = Writer(job.data / f"train_{epoch}", [b"x"], create=True, delay=0.1)
        writer.join()
        eventually(lambda path=writer.path: os.unlink(path) is None, "the FIFO to be removed")
    assert job.end() == 0, job.err
    assert job.model() == "0:x 1:x 2:x"


def test_missing_fifo_times_out(host):
    job = host(COUNTING, open_timeout=1).start()
    assert job.end() == 1
    assert job.err.rstrip().endswith("train_0` does not exist for 1 s: gave up")
