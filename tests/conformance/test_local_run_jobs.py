"""Local runs of small jobs with real hosts, channels, and generated files."""

from __future__ import annotations

import json
import os
import stat

import pytest

from support.local.local_jobs import HEAD, LocalJob


@pytest.fixture
def job(tmp_path):
    job = LocalJob(tmp_path / "job")
    yield job
    job.assert_nothing_left()


SCRIPT = """
    import json, os, sys
    train = os.environ["SM_CHANNEL_TRAIN"]
    print("argv", sys.argv[1:])
    print("files", sorted(os.listdir(train)))
    with open(os.path.join(os.environ["SM_MODEL_DIR"], "model.txt"), "w") as model:
        model.write("trained on " + open(os.path.join(train, "a.csv")).read())
    with open(os.path.join(os.environ["SM_OUTPUT_DATA_DIR"], "notes.txt"), "w") as notes:
        notes.write("none")
"""
SPEC = """
    source: {{dir: src/, delivery: {delivery}}}
    entry_point: train.py
    channels:
      train: {{s3: "s3://data/train/", local: data/}}
    hyperparameters: {{lr: 1e-3}}
"""


@pytest.fixture
def script(job):
    job.spec(SPEC.format(delivery="image"))
    job.write("src/train.py", SCRIPT)
    job.write("data/a.csv", "1,2")
    return job


def test_script_runs_and_its_model_is_collected(script):
    """The model directory becomes model.tar.gz, output/data becomes output.tar.gz."""
    ended = script.run()
    assert ended.returncode == 0, ended.stderr
    assert "algo-1 | argv ['--lr', '0.001']" in ended.stderr
    assert script.archive() == {"model.txt": b"trained on 1,2"}
    assert script.archive("output.tar.gz") == {"notes.txt": b"none"}
    summary = script.summary()
    assert (summary["status"], summary["exit_status"], summary["failure_reason"]) == ("Completed", 0, None)
    assert [(flow["channel"], flow["size"]) for flow in summary["channels"]] == [("train", 3)]
    assert json.loads((script.run_directory / "run.json").read_text())["status"] == "Completed"


def test_only_results_go_to_stdout(script):
    ended = script.run()
    lines = ended.stdout.splitlines()
    assert lines[0].split() == ["host", "channel", "mode", "epoch", "bytes", "seconds", "MB/s"]
    assert lines[1].split()[:5] == ["algo-1", "train", "File", "-", "3"]
    assert [line.split()[0] for line in lines[3:]] == ["job", "usage", "model", "output", "logs", "report"]


@pytest.mark.parametrize("delivery", ["image", "channel", "s3"])
def test_source_arrives_by_each_delivery(script, delivery):
    script.spec(SPEC.format(delivery=delivery))
    assert script.run().returncode == 0
    assert "files ['a.csv']" in script.log()
    channels = json.loads((script.host() / "input/config/inputdataconfig.json").read_text())
    assert set(channels) == ({"train", "code"} if delivery == "channel" else {"train"})
    hyperparameters = json.loads((script.host() / "input/config/hyperparameters.json").read_text())
    assert hyperparameters["lr"] == "1e-3"
    assert os.path.isfile(hyperparameters.get("sagemaker_submit_directory", __file__))


@pytest.mark.parametrize("delivery", ["channel", "s3"])
def test_existing_image_runs_locally(script, delivery):
    """The smspec runtime arrives in a channel, or replaces the toolkit of the image."""
    image = "\n    image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.4"
    script.spec(SPEC.format(delivery=delivery) + image)
    ended = script.run()
    assert ended.returncode == 0, ended.stderr
    assert script.archive() == {"model.txt": b"trained on 1,2"}


def test_local_host_matches_a_container(script):
    script.write("src/train.py", "import os; print('ENV', sorted(os.environ.items()))")
    script.spec(
        SPEC.format(delivery="image")
        + """
    image: {base: "python:3.12-slim-bookworm", env: {IN_IMAGE: a, IN_BOTH: image}}
    environment: {IN_JOB: b, IN_BOTH: job}
    """
    )
    inherited = {"SM_HP_STALE": "x", "SAGEMAKER_PROGRAM": "x", "TRAINING_JOB_NAME": "x", "AWS_PROFILE": "mine"}
    assert script.run(inherited).returncode == 0
    line = next(line for line in script.log().splitlines() if line.startswith("ENV"))
    variables = dict(eval(line.removeprefix("ENV ")))
    assert variables["TRAINING_JOB_NAME"].startswith("job-")
    assert variables["TRAINING_JOB_ARN"].startswith("arn:aws:sagemaker:us-west-2:111122223333:training-job/job-")
    assert variables["AWS_REGION"] == "us-west-2"
    assert (variables["IN_IMAGE"], variables["IN_JOB"], variables["IN_BOTH"]) == ("a", "b", "job")
    assert variables["PYTHONUNBUFFERED"] == "1"
    assert variables["AWS_PROFILE"] == "mine"
    assert "SM_HP_STALE" not in variables
    assert "SAGEMAKER_PROGRAM" not in variables
    base = script.host()
    for path in ("input/config", "model", "output/data", "output/metrics/sagemaker", "checkpoints", "code"):
        assert (base / path).is_dir()
    assert json.loads((base / "input/data/train-manifest").read_text()) == ["a.csv"]


LOOP = """
    class Trainer:
        def epoch(self, job, epoch, streams):
            total = sum(len(chunk) for chunk in streams["train"])
            print(job.host, "epoch", epoch, "bytes", total)
            if total == 0:
                print("nothing for", job.host)
        def end(self, job):
            with open(job.model_dir + "/" + job.host, "w") as model:
                model.write("done")
"""


@pytest.fixture
def loop(job):
    job.spec(
        """
        source: src/
        entry_point: {pipe_loop: "reader:Trainer", epochs: 3}
        input_mode: Pipe
        channels:
          train: {s3: "s3://data/train/", local: data/, distribution: ShardedByS3Key}
        hosts: {instance_type: ml.m5.large, count: 2, volume: 1GB}
        """
    )
    job.write("src/reader.py", LOOP)
    for number in range(3):
        job.write(f"data/part{number}", bytes([number]) * (100_000 * (number + 1)))
    return job


def test_pipe_loop_is_fed_by_epoch(loop, any_python):
    """ShardedByS3Key: keys are dealt out over the hosts; one FIFO per channel and epoch."""
    ended = loop.run(python=any_python)
    assert ended.returncode == 0, ended.stderr
    flows = [(flow["host"], flow["epoch"], flow["size"], flow["is_early"]) for flow in loop.summary()["channels"]]
    assert flows == [
        *(("algo-1", epoch, 400_000, False) for epoch in range(3)),
        *(("algo-2", epoch, 200_000, False) for epoch in range(3)),
    ]
    for epoch in range(3):
        assert f"algo-2 epoch {epoch} bytes 200000" in loop.log("algo-2")
        assert f"Completed epoch {epoch}; read 200000 bytes" in loop.log("algo-2")
    assert loop.archive() == {"algo-1": b"done", "algo-2": b"done"}


def test_more_hosts_than_objects_leave_some_without_data(loop):
    ended = loop.run(hosts=4)
    assert ended.returncode == 0, ended.stderr
    assert "nothing for algo-4" in loop.log("algo-4")
    resources = json.loads((loop.host("algo-4") / "input/config/resourceconfig.json").read_text())
    assert resources["hosts"] == ["algo-1", "algo-2", "algo-3", "algo-4"]


def test_epoch_may_end_early(loop):
    loop.write(
        "src/reader.py",
        """
        def Trainer(job, epoch, streams):
            next(iter(streams["train"]))
            streams["train"].close()
        """,
    )
    loop.write("data/part0", b"x" * (8 << 20))
    ended = loop.run(hosts=1)
    assert ended.returncode == 0, ended.stderr
    assert [(flow["epoch"], flow["is_early"]) for flow in loop.summary()["channels"]] == [
        (0, True),
        (1, True),
        (2, True),
    ]
    assert ended.stdout.count("ended early") == 3


def test_augmented_manifest_reaches_the_loop_in_pairs(job):
    """AugmentedManifestFile with RecordIO: the values of AttributeNames, one record each, line by line."""
    job.spec(
        """
        source: src/
        entry_point: {pipe_loop: "reader:look", read: {train: augmented}}
        input_mode: Pipe
        channels:
          train:
            s3: s3://data/cats/train.manifest
            s3_data_type: AugmentedManifestFile
            attributes: [image-ref, class]
            record_wrapper: RecordIO
            local: data/train.manifest
        """
    )
    job.write("data/img/1.jpg", b"first image")
    job.write("data/img/2.jpg", b"second image")
    job.write(
        "data/train.manifest",
        '{"image-ref": "s3://data/cats/img/1.jpg", "class": 4}\n{"image-ref": "img/2.jpg", "class": 5}\n',
    )
    job.write(
        "src/reader.py", "def look(job, epoch, streams):\n    for sample in streams['train']: print('GOT', sample)\n"
    )
    ended = job.run()
    assert ended.returncode == 0, ended.stderr
    got = [line for line in job.log().splitlines() if line.startswith("GOT")]
    assert len(got) == 2
    assert "first image" in got[0] and "b'4'" in got[0]
    assert "second image" in got[1] and "b'5'" in got[1]


def test_rate_can_be_limited(loop):
    ended = loop.run(hosts=1, rate="1MB")
    assert ended.returncode == 0, ended.stderr
    assert all(flow["seconds"] > 0.5 for flow in loop.summary()["channels"])


def test_fast_file_channels_are_read_only_copies(script):
    script.spec(SPEC.format(delivery="image") + "    input_mode: FastFile")
    assert script.run().returncode == 0
    laid = script.host() / "input/data/train/a.csv"
    assert laid.read_text() == "1,2"
    assert not laid.is_symlink()
    assert stat.S_IMODE(laid.stat().st_mode) == 0o444


def test_torchrun_uses_a_free_loopback_port(job):
    """Two hosts, both this machine: their launchers get 127.0.0.1 and one free port."""
    job.spec(
        """
        source: src/
        entry_point: train.py
        distribution: torchrun
        hosts: {instance_type: ml.m5.large, count: 2, volume: 1GB}
        checks: {ignore: [{rule: SM558, because: x}]}
        """
    )
    job.write("src/train.py", "")
    job.write("bin/torchrun", '#!/bin/sh\necho TORCHRUN "$@"\n')
    os.chmod(job.directory / "bin" / "torchrun", 0o755)
    ended = job.run({"PATH": f"{job.directory / 'bin'}{os.pathsep}{os.environ['PATH']}"})
    assert ended.returncode == 0, ended.stderr
    words = []
    for host in ("algo-1", "algo-2"):
        line = next(line for line in job.log(host).splitlines() if line.startswith("TORCHRUN"))
        words.append(dict(zip(line.split()[1:10:2], line.split()[2:11:2], strict=True)))
    first, second = words
    assert first.pop("--node_rank") == "0"
    assert second.pop("--node_rank") == "1"
    assert first == second
    assert first["--nnodes"] == "2"
    assert first["--master_addr"] == "127.0.0.1"
    assert first["--master_port"] != "7777"


def test_instance_groups_get_only_their_channels(job):
    job.spec(
        """
        source: src/
        entry_point: train.py
        channels:
          train: {s3: "s3://data/train/", local: data/, instance_groups: [workers], distribution: ShardedByS3Key}
        hosts:
          volume: 1GB
          groups:
            - {name: heads, instance_type: ml.c5.xlarge, count: 1}
            - {name: workers, instance_type: ml.m5.large, count: 2}
        """
    )
    job.write(
        "src/train.py", "import os; print(os.environ['SM_CHANNELS'], os.listdir(os.environ['SM_INPUT_DIR'] + '/data'))"
    )
    job.write("data/a", "A")
    job.write("data/b", "B")
    ended = job.run()
    assert ended.returncode == 0, ended.stderr
    assert "[] []" in job.log("algo-1")
    assert (job.host("algo-2") / "input/data/train/a").exists()
    assert (job.host("algo-3") / "input/data/train/b").exists()


def test_outputs_may_stay_uncompressed(script):
    script.spec(SPEC.format(delivery="image") + "    output: {s3: 's3://models/job/', compression: NONE}", HEAD)
    assert script.run().returncode == 0
    assert (script.run_directory / "model" / "model.txt").read_text() == "trained on 1,2"
    assert not (script.run_directory / "model.tar.gz").exists()


def test_second_run_replaces_the_first(script):
    assert script.run().returncode == 0
    script.write("src/train.py", "print('nothing')")
    assert script.run().returncode == 0
    assert not (script.run_directory / "model.tar.gz").exists()
    assert script.summary()["model"] is None


def test_metrics_are_counted_in_the_log(job):
    job.spec(
        """
        source: src/
        entry_point: train.py
        metrics:
        - {name: loss, regex: "loss=([0-9.]+)"}
        - {name: accuracy, regex: "accuracy=([0-9.]+)"}
        """
    )
    job.write("src/train.py", 'for loss in (0.5, 1e-05):\n    print("loss=" + str(loss))\n')
    ended = job.run()
    assert ended.returncode == 0, ended.stderr
    assert "metric   loss: 2 values, the last is 1\n" in ended.stdout
    assert "no line of the log matches the regex of metric `accuracy`" in ended.stderr
    assert "metric `loss` reads `1` where the log has `1e-05`: extend its group" in ended.stderr
    assert [metric["matches"] for metric in job.summary()["metrics"]] == [2, 0]
