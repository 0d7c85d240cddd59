"""report.html: its content and its rendering in a browser."""

import itertools
import json
import os
import re
import shutil
import subprocess
import threading
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smspec.local.prediction.limits import Interval
from smspec.local.prediction.mode_prediction import ModePrediction
from smspec.local.prediction.prediction import Prediction
from smspec.local.record import report
from smspec.local.record.flows import METRICS, InjectedFault
from smspec.local.record.report import Curve, draw, rates, report_page, trace
from smspec.local.record.summary import RunRecord, Series, Summary
from smspec.local.running.events import ChannelLaid, EpochEnded, EpochFed, HostEnded
from smspec.local.watch.host_log import LOG_LINES, HostLog
from smspec.local.watch.metric_counts import MetricCount, MetricValues
from support.local.local_jobs import LocalJob
from support.local.log_texts import logged

CHROMIUM = shutil.which("chromium")


def browsed(path):
    """Return what a page is once a browser has read it, and what the browser complained of."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    profile = f"--user-data-dir={path.parent / 'profile'}"
    done = subprocess.run([*command, profile, path.as_uri()], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


class Run:
    """A run whose events come from the test instead of from processes."""

    def __init__(self):
        self.now = 0.0
        self.record = RunRecord(lambda: self.now)

    def report(self, event):
        self.record.report(event)

    def epoch(self, number, sizes, host="algo-1", channel="train"):
        for size in sizes:
            self.now += 0.5
            self.report(
                EpochFed(host=host, channel=channel, epoch=number, size=size, total=None, seconds=1.0, moment=self.now)
            )
        end = EpochEnded(
            host=host, channel=channel, epoch=number, size=sizes[-1], seconds=1.0, early=False, moment=self.now
        )
        self.report(end)

    def page(self, **changes):
        facts = {"job": "job", "status": "Completed", "job_status": 0, "failed": None, "failure_reason": ""}
        hosts = (HostEnded(host="algo-1", exit_status=0, seconds=self.now),)
        rest = {"seconds": self.now, "hosts": hosts, "flows": self.record.flows, "model": None, "output": None}
        summary = Summary(**{**facts, **rest, "logs": "run/logs/", "report": "run/report.html", **changes})
        return report_page(summary, self.record)


def metrics(epoch, waited, computed, channel="train"):
    measured = {"smspec": "pipe", "channel": channel, "epoch": epoch, "fifo": epoch, "seconds": 4.0}
    text = json.dumps({**measured, "waited": waited, "computed": computed})
    assert text.startswith(METRICS)
    return text


def test_throughput_covers_all_epochs():
    run = Run()
    run.epoch(0, [5_000_000, 10_000_000])
    run.epoch(1, [1_000_000, 2_000_000])
    samples = run.record.series["algo-1", "train"]
    assert [count for _, count in samples] == sorted(count for _, count in samples)
    assert samples[-1] == (2.0, 12_000_000)
    assert 'aria-label="throughput of train in MB a second"' in run.page()


def test_many_epochs_cost_linear_space():
    """Adding up all epochs at each event would take some minutes here."""
    record = RunRecord(lambda: 0.0)
    began = time.monotonic()
    for epoch in range(100_000):
        for size in (3, 7):  # the second amount stands for the whole epoch, the first one too
            measured = {"host": "algo-1", "channel": "train", "epoch": epoch, "size": size}
            record.report(EpochEnded(**measured, seconds=1.0, early=False, moment=float(epoch)))
    assert time.monotonic() - began < 20
    assert record.series["algo-1", "train"][-1] == (99_999.0, 700_000)


def test_text_of_the_job_is_escaped():
    """Logs, failure reasons, and host names cannot add markup to the page."""
    run = Run()
    hostile = '</pre><script>alert("x")</script>\x1b[31m\u202e'
    run.report(logged("<i>", hostile))
    page = run.page(failure_reason=hostile, status="Failed", failed="<b>")
    assert "<script" not in page and "<i>" not in page and "<b>" not in page
    assert "\x1b" not in page.split("<body>")[1].split('class="failure"')[0]


def test_page_loads_no_external_resource():
    run = Run()
    run.epoch(0, [1, 2, 3])
    assert not re.findall(r"https?:|//\w|<script|<link|@import|url\(", run.page())


def test_measurements_show_waiting_and_computing():
    run = Run()
    for channel in ("train", "validation"):  # what each tells is of the whole epoch
        run.report(logged("algo-1", metrics(3, 1.5, 0.5, channel)))
    run.report(logged("algo-1", METRICS + "broken"))
    (balance,) = run.record.balances
    assert (balance.epochs, balance.waiting_share, balance.verdict) == ("3", 75.0, "data-bound")
    assert run.page().count("data-bound") == 1
    assert "broken" not in run.page()


def test_many_epochs_are_summarized_and_expandable():
    run = Run()
    for epoch in range(20):
        for host in ("algo-1", "algo-2"):
            run.epoch(epoch, [5_000_000], host)
            run.report(logged(host, metrics(epoch, 1.0, 3.0)))
    page = run.page()
    assert page.count("compute-bound") == 2 + 40
    assert page.count('<td class="number">0-19</td>') == 4
    assert page.count("<summary>every epoch</summary>") == 2


def test_page_has_warnings_and_metrics_before_the_rest():
    values = MetricValues(metric="loss", host="algo-1", count=3, every=1, values=(2.0, None, -1.0))
    metric = MetricCount(name="<loss>", matches=3, numbers=3, last="-1", cut=None, values=(values,))
    run = Run()
    run.epoch(0, [1, 2, 3])
    page = run.page(metrics=(metric,), warnings=("<b>full",), hyperparameters={"lr": "<i>"})
    headings = re.findall("<h2>(.*?)</h2>", page)
    assert headings[:3] == ["Warnings", "Metrics", "Throughput"] and "Hyperparameters" in headings
    assert "<li>&lt;b&gt;full</li>" in page and 'aria-label="values of &lt;loss&gt;"' in page and "<i>" not in page


def test_prediction_has_a_bar_for_each_possible_mode():
    """The longest time fills its bar; a mode that is not possible has its reason instead."""

    def mode(name, **facts):
        return ModePrediction(mode=name, is_of_spec=name == "File", **facts)

    copied = mode("File", wait=Interval(50, 100), disk=9, capacity=5)
    streamed = mode("Pipe", wait=Interval(25, 50), disk=0)
    rejected = mode("FastFile", obstacle="`<b>` is a ManifestFile")
    facts = {"instances": {"ml.m5.large": 2}, "data": 9, "assumptions": ("S3 is <fast>",)}
    found = Prediction(**facts, modes=(copied, rejected, streamed))
    run = Run()
    page = run.page(prediction=found)
    assert "Prediction for SageMaker" in page and "2 × ml.m5.large with 9 B" in page
    widths = re.findall(r'class="(?:least|most)" style="width: ([\d.]+)%', page)
    assert widths == ["50.0", "50.0", "25.0", "25.0"]
    assert "not possible: `&lt;b&gt;` is a ManifestFile" in page and "S3 is &lt;fast&gt;" in page
    assert 'class="bad">the mode of the spec, does not fit on the disk' in page
    assert "Prediction" not in run.page(prediction=Prediction(unknown=("no size",)))


def test_copied_files_have_no_throughput():
    run = Run()
    for size in (1, 2, 3):
        run.now += 1
        laid = {"host": "algo-1", "channel": "train", "mode": "File", "size": size, "total": 3, "seconds": 1.0}
        run.report(ChannelLaid(**laid))
    assert "Throughput" not in run.page()


def test_injected_faults_are_reported():
    run = Run()
    run.epoch(0, [5])
    assert "--truncate 5 B: in 1 epoch" in run.page(rehearsed=(InjectedFault(option="--truncate", value=5, epochs=1),))


def test_long_log_is_cut_at_the_start():
    run = Run()
    for number in range(LOG_LINES + 50):
        run.report(logged("algo-1", f"line {number}."))
    page = run.page()
    assert "50 earlier lines" in page and f"line {LOG_LINES + 49}." in page and "line 49." not in page


def written(tmp_path, data: bytes) -> list[str]:
    """Write to the stdout of a host, and return the lines of its log: each read ends anywhere, in a character too."""
    log, found = HostLog(str(tmp_path / "log")), []

    def write():
        with os.fdopen(os.dup(log.streams[0]), "wb") as stream:
            log.close_streams()
            stream.write(data)

    writing = threading.Thread(target=write)
    writing.start()
    while (texts := log.read(log.descriptors[0])) is not None:
        found += texts
    writing.join()
    return [line for text in (*found, *log.close()) for line in text.lines]


def test_line_without_an_end_costs_no_search_for_secrets(tmp_path):
    """The search is far slower than the job: it is for what the report shows, of which a secret may cross the end."""
    masked = []

    def hide(text):
        masked.append(len(text))
        return text.replace("hunter2", "******")

    record = RunRecord(hide=hide)
    line = ("é€𝄞" * 40_000 + "hunter2") * 100
    data = line.encode()
    pieces = written(tmp_path, data)
    is_whole = "".join(pieces) == line
    assert is_whole
    assert max(len(piece.encode()) for piece in pieces) <= 1 << 17
    for piece in [*pieces, "x" * 1995 + "hunter2 and more" * 10_000]:
        record.report(logged("algo-1", piece))
    assert masked == []
    text = record.logs["algo-1"].text
    assert text.endswith("x" * 1995 + "*****") and "hun" not in text
    assert sum(masked) < 2_000_000 < len(line)


def test_line_behind_a_progress_bar_is_a_line(tmp_path):
    """tqdm's bar on stderr does not end its line, and an anchored regex matches the line of stdout behind it."""
    bar = " 67%|██████▋   | 2/3 [00:00<00:00, 9.5it/s]"
    data = f"\r  0%|          | 0/3 [00:00<?, ?it/s]\r{bar}final: 0.25\nlast\n".encode()
    assert written(tmp_path, data) == [bar, "final: 0.25", "last"]


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 10**9)), min_size=1, max_size=6000))
def test_series_is_bounded_and_keeps_its_end(steps):
    series, moment, count = Series(), 0.0, 0
    for pause, size in steps:
        moment, count = moment + pause, count + size
        series.add(moment, count)
    assert len(series.samples) <= 2049
    assert series.samples[-1] == (moment, count)
    assert list(series.samples) == sorted(series.samples)


@given(
    st.lists(st.lists(st.tuples(st.floats(0, 1e5), st.floats(0, 1e12)), max_size=1000), max_size=4),
    st.floats(0, 1e5),
)
def test_curves_stay_inside_their_chart(points, seconds):
    drawn = draw([Curve("x", tuple(sorted(curve))) for curve in points], seconds)
    for curve in drawn.curves:
        for place in re.findall(r"[ML]([\d.-]+) ([\d.-]+)", curve.path):
            assert report.LEFT <= float(place[0]) <= report.WIDTH and 0 <= float(place[1]) <= report.HEIGHT
    assert 2 <= len(drawn.up) <= 12 and 2 <= len(drawn.across) <= 12


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.lists(NUMBERS, min_size=2, max_size=50), min_size=1, max_size=4))
@example([[1e9, 1e9 + 1]])
@example([[-3.0, -5.0]])
@example([[-1.7e308, 1.7e308]])
def test_curves_of_values_stay_inside_their_chart(values):
    traced = trace([Curve("x", tuple(enumerate(curve, 1))) for curve in values])
    if traced is None:
        return
    for curve in traced.curves:
        for place in re.findall(r"[ML]([\d.-]+) ([\d.-]+)", curve.path):
            assert report.LEFT <= float(place[0]) <= report.WIDTH and 0 <= float(place[1]) <= report.HEIGHT
    assert all(0 <= tick.place <= report.HEIGHT for tick in traced.up)
    assert 1 <= len(traced.up) <= 12 and 2 <= len(traced.across) <= 12


def test_pause_is_drawn_as_a_gap():
    """Nothing flows from second 1 to second 9: the curve falls at once, lies at 0 and rises at once."""
    (curve,) = draw([Curve("x", ((1, 4.0), (9, 0.0), (10, 4.0)))], 10).curves
    places = [tuple(map(float, place)) for place in re.findall(r"[ML]([\d.-]+) ([\d.-]+)", curve.path)]
    (one, high), *_, (ten, _) = places
    nine, low = places[2]
    assert places == [(one, high), (one, low), (nine, low), (nine, high), (ten, high)]
    assert low == report.HEIGHT - report.BOTTOM and high < low


def test_rates_are_bytes_per_second():
    drawn = dict(rates([(0.0, 0.0), (1.0, 5.0), (1.0, 7.0), (3.0, 7.0)], 4.0))
    assert len(drawn) == 81
    assert drawn[0.5] == pytest.approx(5.0) and drawn[1.05] == pytest.approx(2 / 0.05) and drawn[3.0] == 0.0


@given(st.lists(st.tuples(st.floats(0, 9), st.integers(0, 10**9)), min_size=2, max_size=50), st.floats(0, 10))
def test_rates_preserve_the_total(points, seconds):
    moments, counts = zip(*points, strict=True)
    samples = list(zip(sorted(moments), map(float, sorted(counts)), strict=True))
    drawn = rates(samples, seconds)
    amount = sum((now - before) * rate for (before, _), (now, rate) in itertools.pairwise(drawn))
    assert amount == pytest.approx(samples[-1][1] - samples[0][1], abs=1e-3)
    assert all(rate >= 0 for _, rate in drawn)


def test_short_epoch_is_drawn_at_its_time():
    """Neither left out, nor spread over the pause behind it, nor a spike of what a FIFO takes at once."""
    run = Run()
    for epoch in range(4):
        for size in (0, 1_000_000):
            moment = epoch + size / 1e8
            measured = {"host": "algo-1", "channel": "train", "epoch": epoch, "size": size, "seconds": 0.01}
            run.report(EpochEnded(**measured, early=False, moment=run.now + moment))
    drawn = rates(run.record.series["algo-1", "train"], 4.0)
    assert [round(moment, 2) for moment, rate in drawn if rate] == [0.05, 1.05, 2.05, 3.05]
    assert [rate for _, rate in drawn if rate] == pytest.approx([2e7] * 4)


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_browser_renders_the_report_of_a_run(tmp_path):
    """One page, no script, nothing missing: what the run was is on it once a browser has read it."""
    job = LocalJob(tmp_path / "job")
    job.spec(
        """\
        source: src/
        entry_point: {pipe_loop: "reader:handler", epochs: 2}
        input_mode: Pipe
        channels:
          train: {s3: "s3://data/train/", local: data/}
        hosts: {instance_type: ml.m5.large, count: 2, volume: 1GB}
        """
    )
    job.write("data/a.bin", bytes(1 << 20))
    job.write(
        "src/reader.py",
        """\
        def handler(job, epoch, streams):
            print("seen", sum(len(chunk) for chunk in streams["train"]))
        """,
    )
    done = job.run()
    assert done.returncode == 0, done.stderr
    assert "report   " in done.stdout
    document, complaints = browsed(job.run_directory / "report.html")
    assert complaints == []
    assert "<h1>job</h1>" in document and "Completed" in document
    for host in ("algo-1", "algo-2"):
        assert f"<td>{host}</td>" in document and f"<summary>{host}</summary>" in document
    assert document.count("seen 1048576") == 4
    assert document.count('<path class="curve"') == 2
    assert "Waiting and computing" in document
