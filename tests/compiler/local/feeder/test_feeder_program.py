"""The feeder as a real process with real FIFOs."""

from __future__ import annotations

import gzip
import json
import os
import random
import select
import signal
import stat
import struct
import subprocess
import sys
import time

import pytest

from smspec.local.feeder.plan import FeederChannel, FeederPlan, Injection
from support.local.feeder_process import DEADLINE, PROGRAM, FeederProcess


def record(payload: bytes) -> bytes:
    """Return a payload without the magic inside as a RecordIO record."""
    return struct.pack("<II", 0xCED7230A, len(payload)) + payload + bytes(-len(payload) % 4)


@pytest.fixture
def data(tmp_path):
    """Write files below a source directory and return its path."""

    def write(**files: bytes) -> str:
        for name, content in files.items():
            path = tmp_path / "source" / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return str(tmp_path / "source")

    (tmp_path / "source").mkdir()
    return write


@pytest.fixture
def feeder(tmp_path):
    """Start feeders; whatever happens, none is left."""
    started = []

    def start(
        *channels: FeederChannel, rate: int | None = None, injection: Injection | None = None, **options: str
    ) -> FeederProcess:
        directory = tmp_path / f"data{len(started)}"
        directory.mkdir()
        plan = FeederPlan(str(directory), list(channels), rate, injection)
        started.append(FeederProcess(plan, str(tmp_path / f"plan{len(started)}.json"), **options))
        started[-1].wait_for("ready")
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


def test_every_epoch_has_a_separate_fifo(feeder, data, any_python):
    """A pipe is called /opt/ml/input/data/<channel>_<epoch>, with epochs from 0. Objects are not separated."""
    running = feeder(FeederChannel("train", data(b=b"second", a=b"first\n", sub__c=b"third")), python=any_python)
    assert stat.S_ISFIFO(os.stat(running.fifo("train_0")).st_mode)
    for epoch in range(3):
        assert running.read(f"train_{epoch}") == b"first\nsecondthird"
        ended = running.wait_for("ended", channel="train", epoch=epoch)
        assert ended["bytes"] == 17 and not ended["early"]
        assert not os.path.exists(running.fifo(f"train_{epoch}"))
    assert running.stop() == 0
    assert os.listdir(running.directory) == []


def test_next_fifo_is_created_in_advance(feeder, data):
    running = feeder(FeederChannel("train", data(a=b"x" * 100)))
    with open(running.fifo("train_0"), "rb"):
        running.wait_for("opened", epoch=0)
        assert os.path.exists(running.fifo("train_1"))


def test_closing_early_ends_the_epoch(feeder, data):
    """If you are done with an epoch you may close the pipe file early; then the next one is fed from its start."""
    content = random.Random(1).randbytes(8 << 20)
    running = feeder(FeederChannel("train", data(a=content)))
    assert running.read("train_0", 10) == content[:10]
    ended = running.wait_for("ended", epoch=0)
    assert ended["early"] and ended["bytes"] < len(content)
    assert running.read("train_1") == content
    assert not running.wait_for("ended", epoch=1)["early"]


def test_late_reader_is_waited_for(feeder, data):
    running = feeder(FeederChannel("train", data(a=b"x")))
    time.sleep(0.3)
    assert [event["event"] for event in running.events] == ["ready"]
    assert running.read("train_0") == b"x"


def test_no_objects_are_an_empty_epoch(feeder, data):
    """With ShardedByS3Key and more hosts than objects some hosts get no data."""
    running = feeder(FeederChannel("train", data(a=b"x"), shard=1, shards=2))
    assert running.read("train_0") == b""
    assert running.read("train_1") == b""


def test_channels_are_fed_independently(feeder, data):
    """There is no sequencing restriction across channels."""
    big = b"y" * (4 << 20)
    source = data(train__a=b"x", validation__a=big)
    running = feeder(
        FeederChannel("train", os.path.join(source, "train")),
        FeederChannel("validation", os.path.join(source, "validation")),
    )
    with open(running.fifo("validation_0"), "rb") as validation:
        for epoch in range(3):
            assert running.read(f"train_{epoch}") == b"x"
        assert validation.read() == big


def test_shards_of_all_hosts_are_complete(feeder, data):
    files = {f"part{number:02}": bytes([65 + number]) for number in range(7)}
    source = data(**files)
    seen = []
    for shard in range(3):
        running = feeder(FeederChannel("train", source, shard=shard, shards=3))
        seen.append(running.read("train_0"))
    assert seen == [b"ADG", b"BE", b"CF"]


def test_shuffling_differs_by_epoch_and_repeats_by_run(feeder, data):
    """ShuffleConfig: shuffled at the start of every epoch, in an order that the seed determines."""
    source = data(**{f"part{number:02}": bytes([65 + number]) for number in range(20)})
    runs = []
    for _ in range(2):
        running = feeder(FeederChannel("train", source, shuffle_seed=17))
        runs.append([running.read(f"train_{epoch}") for epoch in range(2)])
    first, second = runs[0]
    assert runs[0] == runs[1]
    assert first != second
    assert sorted(first) == sorted(second) == list(range(65, 85))


def test_gzip_is_decompressed(feeder, data):
    """CompressionType Gzip: objects are decompressed as they are streamed."""
    content = random.Random(2).randbytes(700_000) + b"0" * 5_000_000
    members = gzip.compress(content[:3_000_000]) + gzip.compress(content[3_000_000:]) + b"\0" * 512
    running = feeder(FeederChannel("train", data(a=members, b=gzip.compress(b"end")), compression="Gzip"))
    assert running.read("train_0") == content + b"end"


def test_every_object_becomes_a_record(feeder, data):
    """RecordWrapperType RecordIO: each object is wrapped in a RecordIO record."""
    large = random.Random(3).randbytes(300_001)
    running = feeder(FeederChannel("train", data(a=b"12345", b=b"", c=large), record_wrapper="RecordIO"))
    assert running.read("train_0") == record(b"12345") + record(b"") + record(large)


def test_gzip_objects_are_wrapped_decompressed(feeder, data):
    channel = FeederChannel("train", data(a=gzip.compress(b"12345678")), compression="Gzip", record_wrapper="RecordIO")
    assert feeder(channel).read("train_0") == record(b"12345678")


def test_augmented_manifests_give_attributes_in_order(feeder, data):
    """AugmentedManifestFile: recordio(image1.jpg) recordio("1"), for each line; other keys are left out."""
    lines = [
        {"class": 1, "image-ref": "s3://bucket/train/images/1.jpg", "more": "x"},
        {"image-ref": "images/2.jpg", "class": 1.50},
    ]
    manifest = b"\n".join(json.dumps(line).encode() for line in lines).replace(b"1.5}", b"1.50}") + b"\n\n"
    source = data(**{"images__1.jpg": b"JPG1", "images__2.jpg": b"JPG22", "train.manifest": manifest})
    channel = FeederChannel(
        "train",
        os.path.join(source, "train.manifest"),
        uri="s3://bucket/train/train.manifest",
        s3_data_type="AugmentedManifestFile",
        attributes=["image-ref", "class"],
        record_wrapper="RecordIO",
    )
    samples = [b"JPG1", b"1", b"JPG22", b"1.50"]
    assert feeder(channel).read("train_0") == b"".join(map(record, samples))


def test_manifests_keep_their_order(feeder, data):
    manifest = json.dumps([{"prefix": "s3://bucket/dir/"}, "b.csv", "a.csv"]).encode()
    source = data(**{"bucket__dir__a.csv": b"A", "bucket__dir__b.csv": b"B", "m.json": manifest})
    channel = FeederChannel(
        "train", os.path.join(source, "m.json"), uri="s3://elsewhere/m.json", s3_data_type="ManifestFile"
    )
    assert feeder(channel).read("train_0") == b"BA"


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"compression": "Gzip"}, "is not a gzip file"),
        ({"s3_data_type": "ManifestFile"}, "is not JSON"),
        ({"s3_data_type": "AugmentedManifestFile"}, "line 1 of"),
    ],
)
def test_faulty_data_never_look_like_a_whole_epoch(feeder, data, members, message):
    """The fault is reported, and the stream has no end before the job is stopped."""
    source = os.path.join(data(a=b"not what it should be"), "a")
    running = feeder(FeederChannel("train", source, **members))
    reader = os.open(running.fifo("train_0"), os.O_RDONLY | os.O_NONBLOCK)
    assert message in running.wait_for("fault", channel="train")["message"]
    assert running.process.poll() is None
    assert not any(event["event"] == "ended" for event in running.events)
    os.close(reader)
    assert running.stop() == 0
    assert os.listdir(running.directory) == []


def test_truncated_gzip_object_is_an_error(feeder, data):
    whole = gzip.compress(random.Random(4).randbytes(100_000))
    running = feeder(FeederChannel("train", data(a=whole[:-100]), compression="Gzip"))
    reader = os.open(running.fifo("train_0"), os.O_RDONLY | os.O_NONBLOCK)
    assert "is a truncated gzip file" in running.wait_for("fault")["message"]
    os.close(reader)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
@pytest.mark.parametrize("busy", [False, True])
def test_signal_stops_the_feeder_and_removes_its_fifo(feeder, data, number, busy):
    running = feeder(FeederChannel("train", data(a=b"x" * (4 << 20))))
    reader = None
    if busy:  # the FIFO is full and nobody reads on: the writing thread hangs
        reader = os.open(running.fifo("train_0"), os.O_RDONLY)
        running.wait_for("sent", epoch=0)
    running.process.send_signal(number)
    assert running.process.wait(DEADLINE) == 0
    assert os.listdir(running.directory) == []
    if reader is not None:
        os.close(reader)


def test_feeder_exits_when_its_parent_dies(feeder, data):
    running = feeder(FeederChannel("train", data(a=b"x")))
    assert running.stop() == 0
    assert os.listdir(running.directory) == []


def test_number_of_epochs_can_be_set(feeder, data):
    running = feeder(FeederChannel("train", data(a=b"x"), epochs=2))
    assert running.read("train_0") + running.read("train_1") == b"xx"
    assert running.process.wait(DEADLINE) == 0
    assert os.listdir(running.directory) == []


def test_progress_is_reported_during_an_epoch(feeder, data):
    running = feeder(FeederChannel("train", data(a=b"x" * (1 << 20))), rate=1 << 20)
    running.read("train_0")
    assert running.wait_for("opened")["total"] == 1 << 20
    assert 0 < running.wait_for("sent")["bytes"] < 1 << 20


def test_rate_limits_each_channel(feeder, data):
    source = data(train__a=b"x" * 600_000, validation__a=b"x" * 600_000)
    running = feeder(
        FeederChannel("train", os.path.join(source, "train")),
        FeederChannel("validation", os.path.join(source, "validation")),
        rate=1_000_000,
    )
    for name in ("train", "validation"):
        running.read(f"{name}_0")
        seconds = running.wait_for("ended", channel=name)["seconds"]
        assert seconds > 0.5


def test_malformed_plan_exits_2():
    for text in ("", "{}", "[]", '{"channels": [], "unknown": 1}', '{"channels": [{"no": 1}], "directory": "x"}'):
        answer = subprocess.run([sys.executable, "-I", PROGRAM], input=text, capture_output=True, text=True)
        assert answer.returncode == 2 and "Traceback" not in answer.stderr


CONTENT = random.Random(5).randbytes(300_000)


@pytest.mark.parametrize("form", ["plain", "Gzip", "RecordIO"])
def test_stalled_stream_pauses_halfway(feeder, data, form):
    """Half of the bytes come, then none for a while, then the rest: nothing is lost, and nothing ends."""
    source = data(a=gzip.compress(CONTENT) if form == "Gzip" else CONTENT, b=b"")
    channel = FeederChannel(
        "train",
        source,
        compression="Gzip" if form == "Gzip" else "None",
        record_wrapper="RecordIO" if form == "RecordIO" else "None",
    )
    whole = record(CONTENT) + record(b"") if form == "RecordIO" else CONTENT
    running = feeder(channel, injection=Injection(stall=1))
    for epoch in range(2):
        pieces, gaps = [], []
        with open(running.fifo(f"train_{epoch}"), "rb", buffering=0) as fifo:
            while not pieces or pieces[-1]:
                began = time.monotonic()
                pieces.append(fifo.read(1 << 20))
                gaps.append(time.monotonic() - began)
        assert b"".join(pieces) == whole
        assert max(gaps) > 0.9
        before = sum(map(len, pieces[: gaps.index(max(gaps))]))
        told = running.wait_for("injected", epoch=epoch)
        assert (told["kind"], told["bytes"]) == ("stall", before)
        assert 0 < before < len(whole)
        assert running.wait_for("ended", epoch=epoch)["bytes"] == len(whole)


@pytest.mark.parametrize("size", [0, 1, 99_999, 150_001])
def test_truncated_stream_ends_without_an_error(feeder, data, size):
    """Not at the end of an object or a record, and in every epoch."""
    running = feeder(
        FeederChannel("train", data(a=CONTENT[:100_000], b=CONTENT[100_000:])), injection=Injection(0, size)
    )
    for epoch in range(2):
        assert running.read(f"train_{epoch}") == CONTENT[:size]
        ended = running.wait_for("ended", epoch=epoch)
        assert (ended["bytes"], ended["early"]) == (size, False)
        assert running.wait_for("injected", epoch=epoch)["kind"] == "truncate"


def test_short_stream_is_not_truncated(feeder, data):
    running = feeder(FeederChannel("train", data(a=b"12345")), injection=Injection(truncate=5))
    assert running.read("train_0") == b"12345"
    running.wait_for("ended", epoch=0)
    assert not any(event["event"] == "injected" for event in running.events)


def test_killed_writer_opens_no_next_epoch(feeder, data):
    """The reader of this epoch gets half of it and an end; no byte ever comes from the next FIFO, which is there."""
    running = feeder(FeederChannel("train", data(a=CONTENT)), injection=Injection(kill_writer=True))
    assert running.read("train_0") == CONTENT[:150_000]
    assert running.process.wait(DEADLINE) == -signal.SIGKILL
    told = running.wait_for("injected")
    assert (told["kind"], told["bytes"]) == ("kill_writer", 150_000)
    assert stat.S_ISFIFO(os.stat(running.fifo("train_1")).st_mode)
    reader = os.open(running.fifo("train_1"), os.O_RDONLY | os.O_NONBLOCK)
    assert not select.select([reader], [], [], 0.2)[0]
    os.close(reader)
    running.stop()


def test_reader_may_close_during_a_stall(feeder, data):
    running = feeder(FeederChannel("train", data(a=CONTENT)), injection=Injection(stall=0.3))
    running.read("train_0", 1000)
    assert running.wait_for("ended", epoch=0)["early"]
    assert running.read("train_1") == CONTENT


def test_injection_into_one_epoch_of_one_channel_spares_others(feeder, data):
    source = data(a=CONTENT)
    injection = Injection(truncate=10, channel="train", epoch=1)
    running = feeder(FeederChannel("train", source), FeederChannel("other", source), injection=injection)
    assert [len(running.read(f"train_{epoch}")) for epoch in range(3)] == [len(CONTENT), 10, len(CONTENT)]
    assert [len(running.read(f"other_{epoch}")) for epoch in range(2)] == [len(CONTENT)] * 2


def test_awaited_cut_comes_when_the_reader_waits_for_more(feeder, data):
    running = feeder(FeederChannel("train", data(a=CONTENT)), injection=Injection(truncate=1000, is_awaited=True))
    with open(running.fifo("train_0"), "rb", buffering=0) as fifo:
        assert fifo.read(900) == CONTENT[:900]
        assert not select.select([], [], [], 1.5)[0]
        assert not any(event["event"] == "injected" for event in running.events)
        assert fifo.read(900) == CONTENT[900:1000]
        assert fifo.read(900) == b""
    assert running.wait_for("injected", epoch=0)["bytes"] == 1000


def test_awaited_cut_spares_a_reader_that_needs_no_more(feeder, data):
    running = feeder(FeederChannel("train", data(a=CONTENT)), injection=Injection(truncate=1000, is_awaited=True))
    assert len(running.read("train_0", 1000)) == 1000
    assert running.wait_for("ended", epoch=0)["early"]
    assert not any(event["event"] == "injected" for event in running.events)
