"""Local runs with data in S3 get the streams and files of local data."""

from __future__ import annotations

import gzip
import json
import struct

import pytest

from support.local.local_jobs import LocalJob
from support.servers.aws_server import BUCKET, s3_server


@pytest.fixture(scope="module")
def server():
    with s3_server() as server:
        for number in range(5):
            server.put(f"train/part{number}", b"%d" % number * 100_000)
            server.put(f"packed/part{number}", gzip.compress(b"%d" % number * 50_000) + gzip.compress(b"end"))
        server.put("images/1.jpg", b"first image")
        line = {"image-ref": f"s3://{BUCKET}/images/1.jpg", "class": 4}
        server.put("train.manifest", json.dumps(line).encode() + b"\n")
        yield server


@pytest.fixture
def job(tmp_path):
    job = LocalJob(tmp_path / "job")
    yield job
    job.assert_nothing_left()


def pipe(job: LocalJob, channel: str, hosts: int = 1) -> None:
    """A job that writes down what it is fed."""
    job.spec(
        f"""
        source: src/
        entry_point: {{pipe_loop: "reader:read", epochs: 2}}
        input_mode: Pipe
        channels: {{train: {{s3: "s3://elsewhere/train", {channel}}}}}
        hosts: {{instance_type: ml.m5.large, count: {hosts}, volume: 1GB}}
        """
    )
    job.write(
        "src/reader.py",
        """
        def read(job, epoch, streams):
            with open(f"{job.model_dir}/{job.host}-{epoch}", "wb") as file:
                for chunk in streams["train"].chunks():
                    file.write(chunk)
        """,
    )


def test_shards_of_a_prefix_are_streamed(job, server):
    """ShardedByS3Key over two hosts, two epochs."""
    pipe(job, "distribution: ShardedByS3Key", 2)
    ended = job.run(server.environ, data={"train": f"s3://{BUCKET}/train/"})
    assert ended.returncode == 0, ended.stderr
    parts = [b"%d" % number * 100_000 for number in range(5)]
    shards = {"algo-1": b"".join(parts[::2]), "algo-2": b"".join(parts[1::2])}
    assert job.archive() == {f"{host}-{epoch}": shard for host, shard in shards.items() for epoch in range(2)}


def test_data_of_the_job_have_a_known_size(job, server):
    """A run on the very data of the spec predicts the job without their size in the spec."""
    pipe(job, "distribution: ShardedByS3Key", 2)
    text = (job.directory / "job.yaml").read_text()
    (job.directory / "job.yaml").write_text(text.replace("s3://elsewhere/train", f"s3://{BUCKET}/train/"))
    ended = job.run(server.environ, data={"train": f"s3://{BUCKET}/train/"})
    assert ended.returncode == 0, ended.stderr
    found = job.summary()["prediction"]
    assert (found["data_bytes"], found["objects"]) == (500_000, 5)
    assert [mode["disk_bytes"] for mode in found["modes"]] == [300_000, 0, 0]
    assert "prediction for 2 × ml.m5.large with 500 kB in 5 objects" in ended.stdout


def test_gzip_is_decompressed_and_wrapped(job, server):
    pipe(job, "compression: Gzip, record_wrapper: RecordIO")
    ended = job.run(server.environ, data={"train": f"s3://{BUCKET}/packed/"})
    assert ended.returncode == 0, ended.stderr
    payloads = [b"%d" % number * 50_000 + b"end" for number in range(5)]
    records = [struct.pack("<II", 0xCED7230A, len(data)) + data + bytes(-len(data) % 4) for data in payloads]
    assert job.archive()["algo-1-1"] == b"".join(records)


def test_shuffling_equals_that_of_local_data(job, server):
    """ShuffleConfig: the order depends on seed, epoch and number of objects, not on where they are."""
    pipe(job, "shuffle_seed: 17")
    for number in range(5):
        job.write(f"data/part{number}", b"%d" % number * 100_000)
    assert job.run(data={"train": job.directory / "data"}).returncode == 0
    here = job.archive()
    assert job.run(server.environ, data={"train": f"s3://{BUCKET}/train/"}).returncode == 0
    assert job.archive() == here


def test_augmented_manifest_is_streamed(job, server):
    pipe(job, "s3_data_type: AugmentedManifestFile, attributes: [image-ref, class]")
    ended = job.run(server.environ, data={"train": f"s3://{BUCKET}/train.manifest"})
    assert ended.returncode == 0, ended.stderr
    assert job.archive()["algo-1-0"] == b"first image4"


@pytest.mark.parametrize("mode", ["File", "FastFile"])
def test_other_channels_are_downloaded(job, server, mode):
    job.spec(
        f"""
        source: src/
        entry_point: train.py
        input_mode: {mode}
        channels: {{train: {{s3: "s3://elsewhere/train/", distribution: ShardedByS3Key}}}}
        hosts: {{instance_type: ml.m5.large, count: 2, volume: 1GB}}
        """
    )
    job.write("src/train.py", "import os; print('SEEN', sorted(os.listdir(os.environ['SM_CHANNEL_TRAIN'])))")
    ended = job.run(server.environ, data={"train": f"s3://{BUCKET}/train/"})
    assert ended.returncode == 0, ended.stderr
    assert "SEEN ['part1', 'part3']" in job.log("algo-2")
    assert (job.host("algo-1") / "input/data/train/part4").read_bytes() == b"4" * 100_000
    sizes = [(flow["host"], flow["mode"], flow["size"]) for flow in job.summary()["channels"]]
    assert sizes == [("algo-1", mode, 300_000), ("algo-2", mode, 200_000)]


@pytest.mark.parametrize(
    ("source", "status", "message"),
    [
        (f"s3://{BUCKET}/nothing/", 2, "no objects found"),
        ("s3://no-such-bucket/train/", 2, "the bucket of"),
        ("s3://", 2, "has no bucket"),
    ],
)
def test_missing_object_is_reported_before_the_job_runs(job, server, source, status, message):
    pipe(job, "compression: None")
    ended = job.run(server.environ, data={"train": source})
    assert (ended.returncode, ended.stdout) == (status, "")
    assert message in ended.stderr and "Traceback" not in ended.stderr
    assert not job.run_directory.exists()


def test_missing_credentials_exit_3(job, server, tmp_path):
    pipe(job, "compression: None")
    nobody = {
        "AWS_ACCESS_KEY_ID": "",
        "AWS_SECRET_ACCESS_KEY": "",
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
    }
    ended = job.run({**server.environ, **nobody}, data={"train": f"s3://{BUCKET}/train/"})
    assert ended.returncode == 3
    assert "no AWS credentials to read" in ended.stderr
    assert not job.run_directory.exists()


def test_object_removed_during_the_run_fails_the_job(job, server):
    server.put("gone.manifest", b'[{"prefix": "s3://%s/"}, "train/part0", "no/such/object"]' % BUCKET.encode())
    pipe(job, "s3_data_type: ManifestFile")
    ended = job.run(server.environ, data={"train": f"s3://{BUCKET}/gone.manifest"})
    assert ended.returncode == 1
    assert f"`s3://{BUCKET}/no/such/object` does not exist" in job.summary()["failure_reason"]
