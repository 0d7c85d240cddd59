"""What a run has seen of how its script reads data."""

import pytest

from smspec.local.prediction.reading import SeenRun, reading_of
from smspec.local.record.flows import Balance, Flow
from smspec.local.running.events import HostEnded
from smspec.local.watch.file_watch import Opened

SIZE = 100 << 20
MEBIBYTE = 1 << 20


def flow(epoch, seconds=2.0, channel="train", is_early=False, size=SIZE):
    mode = "File" if epoch is None else "Pipe"
    return Flow(host="algo-1", channel=channel, mode=mode, epoch=epoch, size=size, seconds=seconds, is_early=is_early)


def seen(*flows, balances=(), slowed="", opened=None, seconds=10.0):
    return reading_of(
        SeenRun(
            flows=flows,
            balances=balances,
            hosts=(HostEnded(host="algo-1", exit_status=0, seconds=seconds),),
            sizes={("algo-1", each.channel): SIZE for each in flows},
            slowed=slowed,
            opened={("algo-1", name): found for name, found in (opened or {}).items()},
        )
    )


def test_pipe_loop_computes_without_its_waits():
    balances = [Balance(host="algo-1", first=epoch, last=epoch, waiting=1.5, computing=0.5) for epoch in (0, 1)]
    (scenario,) = seen(flow(0), flow(1), balances=balances).scenarios
    assert scenario.passes == {"train": 2.0}
    assert scenario.per_byte == 1.0 / (2 * SIZE) and scenario.rest == 6.0


def test_open_fifo_counts_as_computing():
    """Of each epoch of 100 MiB, the last one may have been in the FIFO when its writer was done."""
    least, most = seen(flow(0), flow(1)).scenarios
    assert least.per_byte == 4.0 / (2 * SIZE) and least.rest == 6.0
    assert most.per_byte == pytest.approx(4.0 / (2 * (SIZE - MEBIBYTE)))


def test_limited_fifo_may_have_only_waited():
    *_, last = seen(flow(0), slowed="`--rate` limited the channels").scenarios
    assert last.per_byte == 0.0 and last.rest == 8.0


def test_channels_are_read_at_once_or_in_turn():
    both = seen(flow(0, 2.0), flow(0, 3.0, "test")).scenarios
    assert [scenario.per_byte * 2 * SIZE for scenario in both] == [3.0, pytest.approx(5.0 * 100 / 99)]


def test_files_and_streams_may_take_all_the_time():
    opened = Opened(size=SIZE, count=1, bytes=SIZE, first=(1.0, 1.0), last=(2.0, 2.0))
    least, most = seen(flow(0), flow(None, channel="extra"), opened={"extra": opened}).scenarios
    assert (least.rest, most.rest) == (8.0, 0.0)
    assert least.passes == {"train": 1.0, "extra": 1.0}


def test_files_are_read_while_open_or_until_the_end():
    """Opened after 1 s, closed after 4 s, of 10: the script may have computed for 3 s, or for 9 s."""
    opened = Opened(size=SIZE, count=2, bytes=2 * SIZE, first=(1.0, 1.0), last=(4.0, 4.0))
    found = seen(flow(None), opened={"train": opened}).scenarios
    assert {(scenario.passes["train"], scenario.rest) for scenario in found} == {(1, 7), (1, 1), (2, 7), (2, 1)}
    assert {round(scenario.per_byte * SIZE * scenario.passes["train"], 9) for scenario in found} == {3.0, 9.0}


def test_late_look_at_files_widens_the_time():
    opened = Opened(size=SIZE, count=1, bytes=SIZE, first=(0.9, 1.1), last=(3.9, 4.1))
    short, long = seen(flow(None), opened={"train": opened}).scenarios[:2]
    assert (round(short.per_byte * SIZE, 6), round(long.per_byte * SIZE, 6)) == (2.8, 9.1)


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (lambda: seen(flow(0, is_early=True)), "the script closed an epoch of `train` before its end"),
        (lambda: seen(flow(None)), "on this machine, a run cannot see when a script reads files"),
        (lambda: seen(flow(None), opened={"train": Opened(size=SIZE)}), "the script opened no file of these channels"),
        (lambda: seen(flow(0, 0.01)), "too short to measure"),
        (lambda: seen(flow(0, size=2 * MEBIBYTE - 1)), "hardly more than a FIFO buffers"),
        (lambda: seen(), "the script read no data of these channels"),
    ],
)
def test_unknown_reading_has_a_reason(run, why):
    assert why in run()
