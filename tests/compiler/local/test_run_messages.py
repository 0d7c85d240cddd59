"""Output of a run: live lines, plain lines, the table, and the summary."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from smspec.local.record.artifacts import Collected
from smspec.local.record.flows import table
from smspec.local.record.progress import Progress
from smspec.local.record.summary import RunRecord, Summary, throughput
from smspec.local.record.units import duration, rate, size
from smspec.local.running.events import ChannelLaid, EpochEnded, EpochFed, HostEnded, Remark
from smspec_runtime import pipe
from smspec_runtime.pipe.loop import metrics
from support.local.log_texts import logged


class Paper:
    """A console that keeps what is written."""

    def __init__(self, terminal: bool) -> None:
        self.err_is_terminal = terminal
        self.err_in_colour = False
        self.written = ""
        self.results = ""

    def result(self, text: str) -> None:
        self.results += text

    def write(self, text: str) -> None:
        self.written += text

    paint = write


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def fed(count: int, epoch: int = 0, total: int | None = 1000, host: str = "algo-1") -> EpochFed:
    return EpochFed(host=host, channel="train", epoch=epoch, size=count, total=total, seconds=0.0, moment=0.0)


def ended(count: int, epoch: int = 0, early: bool = False, host: str = "algo-1") -> EpochEnded:
    return EpochEnded(host=host, channel="train", epoch=epoch, size=count, seconds=2.0, early=early, moment=0.0)


def shown(written: str) -> list[str]:
    """Return the lines that are left on a terminal."""
    lines: list[str] = [""]
    position = 0
    while position < len(written):
        if written[position] == "\x1b":
            end = position + 2
            while written[end].isdigit():
                end += 1
            if written[end] == "F":
                up = int(written[position + 2 : end])
                lines = [*lines[: len(lines) - 1 - up], ""]  # \x1b[J, which follows, clears the rest
            position = end + 1
        elif written[position] == "\n":
            lines.append("")
            position += 1
        else:
            lines[-1] += written[position]
            position += 1
    return lines[:-1]


def test_terminal_shows_a_live_line_below_the_log():
    paper, clock = Paper(True), Clock()
    progress = Progress(paper, clock, lambda: (100, 24))
    progress.report(fed(0))
    progress.report(logged("algo-1", "hello"))
    progress.tick()
    clock.now += 1
    progress.report(fed(500_000, total=1_000_000))
    progress.tick()
    progress.report(logged("algo-1", "1\u202f000\xa0s"))
    progress.tick()
    lines = shown(paper.written)
    assert lines[:2] == ["algo-1 | hello", "algo-1 | 1 000 s"]
    assert len(lines) == 3
    assert lines[2] == "algo-1  train  epoch 0  ━━━━━━━━          50%  500 kB  500 kB/s"
    progress.close()
    assert shown(paper.written) == ["algo-1 | hello", "algo-1 | 1 000 s"]


def test_terminal_is_drawn_at_most_five_times_a_second():
    paper, clock = Paper(True), Clock()
    progress = Progress(paper, clock, lambda: (100, 24))
    for step in range(100):
        clock.now += 0.01
        progress.report(fed(step))
        progress.tick()
    assert 4 <= paper.written.count(" B/s") <= 6


def lines_of(width: int, height: int, *events: EpochFed) -> list[str]:
    paper, clock = Paper(True), Clock()
    progress = Progress(paper, clock, lambda: (width, height))
    for event in events:
        progress.report(event)
    clock.now += 1
    progress.tick()
    return shown(paper.written)


def test_many_flows_are_grouped_by_channel():
    """More flows than there is room for: one line per channel, added up over its hosts."""
    hosts = [f"algo-{number}" for number in range(1, 31)]
    assert lines_of(100, 24, *(fed(500_000, total=1_000_000, host=host) for host in hosts)) == [
        "30 hosts  train  epoch 0  ━━━━━━━━          50%   15 MB   15 MB/s",
    ]
    twelve = lines_of(100, 24, *(fed(1, host=host) for host in hosts[:12]))
    assert [line.split()[0] for line in twelve] == hosts[:12]
    assert len(lines_of(100, 8, *(fed(1, host=host) for host in hosts[:12]))) == 1
    many = [replace(fed(1), channel=f"channel-{number:02}") for number in range(15)]
    assert lines_of(100, 24, *many)[-1] == "… and 3 more channels"


def test_hosts_may_be_in_different_epochs():
    events = [fed(1, epoch=epoch, total=None, host=f"algo-{epoch + 1}") for epoch in range(13)]
    assert lines_of(100, 24, *events)[0].split()[:5] == ["13", "hosts", "train", "epoch", "0-12"]


def test_narrow_terminal_shortens_names_before_bars():
    """The rate is seen at 80 columns and fewer; columns stay columns."""
    long = replace(fed(15_500_000, total=40_000_000), channel="validation-with-a-long-name-for-a-channel")
    short = fed(17_500_000, total=None)
    for width in (120, 80, 66, 60):
        lines = lines_of(width, 24, long, short)
        assert len(lines) == 2
        assert all(line.endswith("B/s") and len(line) < width for line in lines)
        assert len({len(line) for line in lines}) == 1
        assert "39%" in lines[1]
    assert "validation-with-a-long-name-for-a-channel  epoch 0  ━━━━━━  " in lines_of(120, 24, long)[0]
    assert "validation-with-a-…  epoch 0  ━━━━━━  " in lines_of(80, 24, long)[0]
    assert all(len(line) < 30 for line in lines_of(30, 24, long, short))


def test_bars_are_colored_on_request():
    paper, clock = Paper(True), Clock()
    paper.err_in_colour = True
    progress = Progress(paper, clock, lambda: (100, 24))
    progress.report(replace(fed(500), channel="[bold]:smile:"))
    clock.now += 1
    progress.tick()
    bar = re.search(r"\x1b\[[0-9;]+m━━━━━━━━", paper.written)
    assert bar, paper.written
    assert "[bold]:smile:" in paper.written, "names are text, not markup"


def test_progress_without_a_terminal_is_logged_in_lines():
    paper, clock = Paper(False), Clock()
    progress = Progress(paper, clock, lambda: (100, 24))
    progress.report(Remark(text="watch out", warning=True))
    progress.report(fed(0))
    for second in range(25):
        clock.now += 1
        progress.report(fed(second * 1_000_000, total=None))
        progress.tick()
    progress.close()
    assert "\x1b" not in paper.written
    lines = paper.written.splitlines()
    assert lines[0] == "warning: watch out"
    assert len(lines) == 3
    assert lines[1].split() == ["algo-1", "train", "epoch", "0", "9", "MB", "1", "MB/s"]


def test_speed_continues_over_epochs():
    paper, clock = Paper(True), Clock()
    progress = Progress(paper, clock, lambda: (100, 24))
    for epoch in range(4):
        progress.report(fed(0, epoch))
        clock.now += 0.5
        progress.report(ended(1_000_000, epoch))
    progress.tick()
    assert shown(paper.written)[-1].split()[-2:] == ["2", "MB/s"]


def test_epoch_closed_early_is_reported():
    record = RunRecord()
    record.report(ended(10, 0))
    record.report(ended(5, 1, early=True))
    record.report(fed(3, 2))
    assert [(flow.epoch, flow.size, flow.is_early) for flow in record.flows] == [
        (0, 10, False),
        (1, 5, True),
        (2, 3, True),
    ]


def test_table_has_a_row_per_host_channel_and_epoch():
    record = RunRecord()
    record.report(ended(4_000_000, 1, early=True, host="algo-10"))
    record.report(ended(4_000_000, 0, host="algo-10"))
    record.report(ended(1_234, 0, host="algo-2"))
    record.report(ChannelLaid(host="algo-2", channel="code", mode="File", size=12, total=12, seconds=0.001))
    assert table(record.flows).splitlines() == [
        "host     channel  mode  epoch    bytes  seconds     MB/s",
        "algo-2   code     File      -     12 B     0.00        -",
        "algo-2   train    Pipe      0  1.23 kB     2.00  0.00062",
        "algo-10  train    Pipe      0     4 MB     2.00      2.0",
        "algo-10  train    Pipe      1     4 MB     2.00      2.0  ended early",
    ]


def test_epoch_duration_is_that_of_its_reader():
    """What a FIFO holds is written in a millisecond, however long its reader takes."""
    record = RunRecord()
    record.report(ended(1_000_000, 0))
    record.report(ended(1_000_000, 1))
    told = {"smspec": "pipe", "channel": "train", "epoch": 7, "fifo": 1, "seconds": 4, "waited": 0, "computed": 4}
    for text in (json.dumps(told), json.dumps({**told, "fifo": 0, "seconds": float("nan")}), "[]"):
        record.report(logged("algo-1", text))
    assert [flow.seconds for flow in record.flows] == [2.0, 4.0]


def test_resumed_epochs_are_numbered_as_in_the_log():
    """FIFOs begin with 0 again; one that no reader came to the end of is the next epoch."""
    record = RunRecord()
    told = {"smspec": "pipe", "channel": "train", "fifo": 0, "seconds": 4, "waited": 0, "computed": 4}
    for fifo in (0, 1):
        record.report(ended(1_000_000, fifo))
        record.report(ended(1_000_000, fifo, host="algo-2"))
    record.report(logged("algo-1", json.dumps({**told, "epoch": 3})))
    record.report(logged("algo-2", json.dumps({**told, "epoch": 0})))
    counted = [(flow.host, flow.epoch, flow.seconds) for flow in record.flows]
    assert counted == [("algo-1", 3, 4.0), ("algo-1", 4, 2.0), ("algo-2", 0, 4.0), ("algo-2", 1, 2.0)]


def test_slow_stream_shows_its_speed():
    """Below 50 kB/s too: a slow stream is not a stopped one."""
    assert lines_of(100, 24, fed(12_345))[0].endswith("12.3 kB/s")
    assert lines_of(100, 24, fed(7))[0].endswith("  7 B/s")
    assert lines_of(100, 24, fed(0))[0].endswith("  0 B/s")


def test_long_table_is_summarized():
    record = RunRecord()
    for epoch in range(100):
        record.report(ended(1_000_000, epoch))
    rows = table(record.flows).splitlines()
    assert len(rows) == 2
    assert rows[1].split() == ["algo-1", "train", "Pipe", "0-99", "100", "MB", "200.00", "0.5"]


def summary(**members: object) -> Summary:
    values = {
        "job": "ctr",
        "status": "Completed",
        "job_status": 0,
        "failed": None,
        "failure_reason": "",
        "seconds": 3.21,
        "hosts": (HostEnded(host="algo-1", exit_status=0, seconds=3.0),),
        "flows": (),
        "model": Collected(path="run/ctr/model.tar.gz", files=1, size=1300),
        "output": None,
        "logs": "run/ctr/logs/",
        "report": "run/ctr/report.html",
    }
    return Summary(**{**values, **members})


def test_summary_lists_result_and_paths():
    assert summary().text().splitlines() == [
        "job      ctr: Completed, exit status 0 after 3.21 s",
        "model    run/ctr/model.tar.gz (1 file, 1.3 kB)",
        "output   (none)",
        "logs     run/ctr/logs/",
        "report   run/ctr/report.html",
    ]


def test_usage_of_hosts_is_listed_or_named_as_unknown():
    hosts = tuple(
        HostEnded(host=f"algo-{number}", exit_status=0, seconds=3.0, cpu_seconds=1.5, peak_memory=number * 10**6)
        for number in range(1, 11)
    )
    lines = [line for line in summary(hosts=hosts).text().splitlines() if line.startswith("usage")]
    assert lines[0] == "usage    algo-3: 1.50 s of CPU time, 3 MB in the largest process"
    assert len(lines) == 9 and lines[-1] == "usage    less memory on 2 more hosts"
    assert "usage    not measured by the engine `docker`\n" in summary(engine="docker").text()


def test_failed_summary_contains_the_reason():
    two = tuple(HostEnded(host=f"algo-{number}", exit_status=7, seconds=3.0) for number in (1, 2))
    failed = summary(status="Failed", job_status=7, failed="algo-2", failure_reason="first\nsecond", hosts=two)
    assert failed.text().splitlines()[:3] == [
        "job      ctr: Failed, exit status 7 of algo-2 after 3.21 s",
        "failure  first",
        "         second",
    ]
    document = json.loads(failed.to_json())
    assert (document["status"], document["exit_status"], document["failed_host"]) == ("Failed", 7, "algo-2")
    assert document["failure_reason"] == "first\nsecond"


def test_quantities_have_units():
    assert [size(count) for count in (0, 999, 1000, 1234, 999_600, 268_435_456, 10**15)] == [
        *("0 B", "999 B", "1 kB", "1.23 kB", "1 MB", "268 MB", "1 PB"),
    ]
    assert [rate(count, 2) for count in (0, 24_000, 246_000, 2_468_000_000)] == ["0.0", "0.012", "0.12", "1,234.0"]
    assert [rate(1_000_000, seconds) for seconds in (0, 0.004)] == ["-", "-"]
    assert [duration(seconds) for seconds in (0.4, 12.34, 125, 7384)] == [
        "0.40 s",
        "12.3 s",
        "2 min 05 s",
        "2 h 03 min",
    ]


def test_metrics_lines_are_hidden_from_progress(tmp_path: Path):
    (tmp_path / "train_0").write_bytes(b"data")
    with pipe.open(str(tmp_path / "train_0")) as stream:
        assert sum(map(len, stream)) == 4
        measured = metrics(0, stream, 0.5, 1.5)
    paper = Paper(False)
    progress = Progress(paper, Clock(), lambda: (100, 24))
    for text in ("before", measured.rstrip(), "after"):
        progress.report(logged("algo-1", text))
    progress.close()
    assert paper.written == "algo-1 | before\nalgo-1 | after\n"


def test_summary_of_throughput_is_compact():
    long = {("algo-10", "train"): [(0.1 * number, number * 1000) for number in range(2001)]}
    short = {("algo-2", "train"): [(0.123456, 5)], ("algo-3", "train"): []}
    document = json.loads(summary(throughput=throughput({**long, **short})).to_json())
    second, third, tenth = document["throughput"]
    assert second == {"host": "algo-2", "channel": "train", "seconds": [0.123], "bytes": [5]}
    assert (third["host"], third["bytes"]) == ("algo-3", [])
    assert 150 <= len(tenth["seconds"]) == len(tenth["bytes"]) <= 201
    assert (tenth["bytes"][0], tenth["bytes"][-1], tenth["seconds"][-1]) == (0, 2_000_000, 200.0)
    assert tenth["bytes"] == sorted(tenth["bytes"])
    assert json.loads(summary().to_json())["throughput"] == []
