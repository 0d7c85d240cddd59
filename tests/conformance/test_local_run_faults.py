"""Faults injected into the streams of a local run, and their summary."""

from __future__ import annotations

import random

import pytest

from support.local.local_jobs import LocalJob

CONTENT = random.Random(7).randbytes(1_000_000)
READER = """
def read(job, epoch, streams):
    with open(f"{job.model_dir}/{epoch}", "wb") as file:
        for chunk in streams["train"].chunks():
            file.write(chunk)
"""


@pytest.fixture
def job(tmp_path):
    job = LocalJob(tmp_path / "job")
    job.spec(
        """
        source: src/
        entry_point: {pipe_loop: "reader:read", epochs: 2, open_timeout: 2s}
        input_mode: Pipe
        channels: {train: {s3: "s3://data/train/", local: data/}}
        """
    )
    job.write("src/reader.py", READER)
    job.write("data/a", CONTENT)
    yield job
    job.assert_nothing_left()


def test_stall_delays_the_reader(job):
    ended = job.run(stall="0.7s")
    assert ended.returncode == 0, ended.stderr
    assert job.archive() == {"0": CONTENT, "1": CONTENT}
    assert "injected: algo-1, channel `train`, epoch 1: stalled after 500 kB" in ended.stderr
    assert "injected --stall 0.70 s: in 2 epochs" in ended.stdout
    assert ended.stdout.count("stalled") == 2
    summary = job.summary()
    assert summary["injected"] == [{"option": "--stall", "value": 0.7, "epochs": 2}]
    assert [flow["injected"] for flow in summary["channels"]] == [["stall"], ["stall"]]
    assert all(flow["seconds"] > 0.6 for flow in summary["channels"])


def test_truncated_epoch_looks_complete(job):
    """The end of a FIFO is equal for both: only the content can show it."""
    ended = job.run(truncate=1234)
    assert ended.returncode == 0, ended.stderr
    assert job.archive() == {"0": CONTENT[:1234], "1": CONTENT[:1234]}
    assert ended.stdout.count("cut short") == 2
    assert "injected --truncate 1.23 kB: in 2 epochs" in ended.stdout


def test_fault_that_never_occurred_is_reported(job):
    ended = job.run(truncate="1GB")
    assert ended.returncode == 0, ended.stderr
    assert "injected --truncate 1 GB: every epoch was shorter" in ended.stdout


def test_killed_writer_is_detected_by_the_job(job):
    """The run goes on: the first epoch ends in its middle, the next one never begins."""
    ended = job.run(**{"kill-writer": None})
    assert ended.returncode == 1
    summary = job.summary()
    assert summary["status"] == "Failed"
    assert "no byte has come for 2 s" in summary["failure_reason"]
    assert job.archive()["0"] == CONTENT[:500_000]
    assert [(flow["epoch"], flow["size"]) for flow in summary["channels"]] == [(0, 500_000)]
    assert "injected --kill-writer: in 1 epoch" in ended.stdout
    assert "writer killed" in ended.stdout and "ended early" not in ended.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stall": "0"}, "expected a duration such as `30s` or `2m`, got `0`"),
        ({"stall": "1min"}, "expected a duration, got `1min`; did you mean `1m`?"),
        ({"truncate": "4mb"}, "expected a number of bytes, got `4mb`; did you mean `4MB`?"),
        ({"truncate": "-1"}, "expected a number of bytes such as `1000` or `50MB`, got `-1`"),
        ({"rate": "5mb/s"}, "expected a rate, got `5mb/s`; did you mean `5MB/s`?"),
        ({"rate": "0MB/s"}, "expected a rate such as `50MB/s`, got `0MB/s`"),
        ({"rate": "0B/s"}, "expected a rate such as `50MB/s`, got `0B/s`"),
        ({"truncate": "1", "kill-writer": None}, "not allowed with argument"),
    ],
)
def test_impossible_faults_exit_2(job, options, message):
    ended = job.run(**options)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert message in ended.stderr
    assert not job.run_directory.exists()


def test_faults_need_pipe_channels(job):
    job.spec('source: src/\nentry_point: train.py\nchannels: {train: {s3: "s3://data/train/", local: data/}}')
    job.write("src/train.py", "")
    ended = job.run(stall="1s")
    assert ended.returncode == 2
    assert "fault injection requires a Pipe channel, and the job has none" in ended.stderr
    assert not job.run_directory.exists()
    ended = job.run(rate="1MB/s")
    assert ended.returncode == 0
    assert "warning: --rate has no effect: the job has no Pipe channels" in ended.stderr
