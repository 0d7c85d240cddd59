"""What a run says afterwards: warnings, usage, metrics, and hyperparameters, in every form of its result."""

import json

import pytest

from support.local.local_jobs import LocalJob

SPEC = """
    source: src/
    entry_point: train.py
    channels:
      train: {s3: "s3://data/train/", local: data/, distribution: ShardedByS3Key}
      extra: {s3: "s3://data/extra/", local: data/, input_mode: Pipe}
    hyperparameters: {lr: 0.5, api_token: hunter2}
    hosts: {instance_type: ml.m5.large, count: 2, volume: 1GB}
    metrics: [{name: loss, regex: "loss=([0-9.-]+)"}]
    checkpoints: s3://models/checkpoints/
"""
SCRIPT = """
    import os, sys
    held = bytearray(b"x" * 60_000_000)
    for step in range(3):
        print(f"loss={1 - step}")
    end = 200_000
    while end: end -= 1
    model = os.environ["SM_MODEL_DIR"]
    if os.environ["SM_CURRENT_HOST"] == "algo-1":
        open(os.path.join(model, "weights"), "w").write("w")
        os.symlink("weights", os.path.join(model, "latest"))
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    job = LocalJob(tmp_path_factory.mktemp("afterwards") / "job")
    job.spec(SPEC)
    job.write("src/train.py", SCRIPT)
    job.write("data/a.csv", "1,2")
    return job


def test_result_has_what_a_run_has_seen(job):
    """`--format json` prints summary.json and nothing else; -q leaves only the warnings on stderr."""
    ended = job.run(format="json", quiet=None)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == (job.run_directory / "summary.json").read_text()
    summary = json.loads(ended.stdout)
    for text in [
        "algo-2 got no data of channel `train`",
        "no host opened Pipe channel `extra`",
        "algo-1: `latest` in model is a link",
        "the job wrote nothing to /opt/ml/checkpoints",
    ]:
        assert [text in warning for warning in summary["warnings"]].count(True) == 1, text
    assert [line for line in ended.stderr.splitlines() if line.startswith("warning: ")] == [
        f"warning: {w}" for w in summary["warnings"]
    ]
    assert "algo-1 | " not in ended.stderr and "engine: " not in ended.stderr
    assert len(summary["warnings"]) == 4
    assert [values["values"] for values in summary["metric_values"]] == [[1.0, 0.0, -1.0]] * 2
    assert summary["hyperparameters"] == {"api_token": "******", "lr": "0.5"}
    assert summary["versions"]["python"] and summary["versions"]["smspec"]
    assert summary["started"].endswith("Z")
    for host in summary["hosts"]:
        assert 60_000_000 < host["peak_memory"] < 300_000_000
        assert 0 < host["cpu_seconds"] < 60
    page = (job.run_directory / "report.html").read_text()
    assert page.count("got no data of channel") == 1 and "hunter2" not in page
    assert 'aria-label="values of loss"' in page and "Throughput" not in page


def test_verbose_lines_have_times(job):
    ended = job.run(verbose=None)
    lines = [line for line in ended.stderr.splitlines() if "algo-1 | loss=1" in line]
    assert len(lines) == 1 and lines[0].split()[1] == "s"
    assert "usage    algo-1: " in ended.stdout and "of CPU time" in ended.stdout
