"""A run predicts its job in SageMaker from the data: in the result, the report, and the terminal."""

import pytest

from support.local.local_jobs import LocalJob

SPEC = """
    source: src/
    entry_point: train.py
    channels:
      train: {s3: "s3://data/train/", local: data/, distribution: ShardedByS3Key, size: 40GB}
      test: {s3: "s3://data/test/", local: test/, input_mode: Pipe, size: 1GB}
    hosts: {instance_type: ml.m5.large, count: 2, volume: 10GB}
"""
SCRIPT = """
    import os
    with open(os.path.join(os.path.dirname(os.environ["SM_CHANNEL_TRAIN"]), "test_0"), "rb") as fifo:
        while fifo.read(1 << 20):
            pass
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    job = LocalJob(tmp_path_factory.mktemp("predicted") / "job")
    job.spec(SPEC)
    job.write("src/train.py", SCRIPT)
    for number in range(6):
        job.write(f"data/{number}", bytes(100_000))
    job.write("test/only", bytes(4_000_000))
    return job


def test_run_predicts_each_input_mode(job):
    """Two hosts have 20 GB of `train` each, which do not fit on 10 GB, and all of `test`."""
    ended = job.run(verbose=None)
    assert ended.returncode == 0, ended.stderr
    found = job.summary()["prediction"]
    assert (found["instances"], found["data_bytes"]) == ({"ml.m5.large": 2}, 41 * 10**9)
    assert found["objects"] == 6 * 40_000_000_000 // 600_000 + 250 and not found["unknown"]
    modes = {mode["mode"]: mode for mode in found["modes"]}
    assert [mode["is_of_spec"] for mode in found["modes"]] == [True, False, False, False]
    assert modes[None]["disk_bytes"] == 20 * 10**9 and modes[None]["disk_capacity_bytes"] == 10 << 30
    assert modes["File"]["disk_bytes"] == 21 * 10**9 and modes["File"]["downloaded_bytes"] == 42 * 10**9
    assert modes["FastFile"]["wait_seconds"][1] < modes["File"]["wait_seconds"][0]
    assert all(low <= high for mode in modes.values() for low, high in [mode["wait_seconds"], mode["pass_seconds"]])
    text = ended.stdout
    assert "prediction for 2 × ml.m5.large with 41 GB in 400,250 objects" in text
    (own,) = [line for line in text.splitlines() if line.startswith("as in the spec  ")]
    assert "20 GB of 10.7 GB" in own and "does not fit on the disk" in own
    assert text.count("assumed: ") == len(found["assumptions"]) > 8


def test_unknown_size_prevents_the_prediction(job):
    job.spec(SPEC.replace(", size: 1GB", ""))
    ended = job.run()
    assert job.summary()["prediction"]["modes"] == []
    assert job.summary()["prediction"]["unknown"] == [
        "the size of channel `test` in S3 is unknown: set `channels.test.size`"
    ]
    assert "no prediction: the size of channel `test` in S3 is unknown" in ended.stdout
