"""An incomplete local run resumes from its checkpoints."""

from __future__ import annotations

import os
import signal
import time

import pytest

from support.local.local_jobs import DEADLINE, LocalJob

HANDLER = """
    import os, time

    class Handler:
        def begin(self, job):
            self.path = os.path.join(job.checkpoint_dir, "model")
            self.epochs = open(self.path).read() if os.path.exists(self.path) else ""

        def epoch(self, job, epoch, streams):
            self.epochs += str(epoch)
            self.bytes = sum(map(len, streams["train"]))
            with open(self.path, "w") as file:
                file.write(self.epochs)
            if epoch == 1 and self.epochs == "01" and os.path.exists(HERE + "/../hang"):
                print("hanging", flush=True)
                time.sleep(60)

        def end(self, job):
            with open(os.path.join(job.model_dir, "epochs"), "w") as file:
                file.write(self.epochs)
            if os.path.exists(HERE + "/../large"):
                os.truncate(file.name, 8 << 30)  # zeros, which need no room
"""


@pytest.fixture
def job(tmp_path):
    job = LocalJob(tmp_path / "job")
    job.spec(
        """
        source: src/
        entry_point: {pipe_loop: "handler:Handler", epochs: 4}
        input_mode: Pipe
        channels: {train: {s3: s3://example/train/, local: data/}}
        checkpoints: s3://example/checkpoints/
        """
    )
    job.write("src/handler.py", HANDLER.replace("HERE", repr(str(job.directory / "data"))))
    job.write("data/part", b"data")
    job.write("hang", b"")
    yield job
    job.assert_nothing_left()


def interrupt(job, number):
    """Run the job into its second epoch, and end it there."""
    job.start()
    job.wait_for_log("hanging")
    job.process.send_signal(number)
    job.process.communicate(timeout=DEADLINE)
    (job.directory / "hang").unlink()


def test_interrupted_run_is_resumed(job):
    interrupt(job, signal.SIGKILL)
    job.assert_nothing_left()
    again = job.run()
    assert again.returncode == 0, again.stderr
    assert job.archive() == {"epochs": b"01123"}  # the epoch that was cut off is read again, whole
    assert "smspec: resuming: 1 of 4 epochs are in" in job.log()
    assert "resuming from the checkpoints of the last run, which did not complete (algo-1)" in again.stderr
    assert sorted(os.listdir(job.host() / "checkpoints")) == ["model"]
    assert not (job.run_directory / "interrupted").exists()

    afresh = job.run()
    assert afresh.returncode == 0, afresh.stderr
    assert job.archive() == {"epochs": b"0123"}
    assert "going on" not in afresh.stderr


def test_ctrl_c_leaves_a_model_that_was_not_collected(job):
    (job.directory / "hang").unlink()
    job.write("large", b"")
    process = job.start()
    end = time.monotonic() + DEADLINE
    while not (job.run_directory / "model.tar.gz.part").exists():
        assert time.monotonic() < end and process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=DEADLINE)
    sentence = f"the results were not collected; the next run removes them: they are in `{job.run_directory}/hosts`"
    assert (process.returncode, sentence in errors) == (130, True), errors
    assert (job.host() / "model/epochs").stat().st_size == 8 << 30


def test_changed_job_starts_again(job):
    """A changed hyperparameter makes another job."""
    interrupt(job, signal.SIGINT)
    with (job.directory / "job.yaml").open("a") as spec:
        spec.write("\nhyperparameters: {lr: 0.1}\n")
    again = job.run()
    assert again.returncode == 0, again.stderr
    assert job.archive() == {"epochs": b"0123"}


def test_checkpoints_survive_a_run_that_could_not_start(job):
    interrupt(job, signal.SIGINT)
    checkpoint = job.host() / "checkpoints/model"
    assert checkpoint.read_text() == "01"
    refused = job.run(python="/nowhere/python3")
    assert refused.returncode != 0
    assert checkpoint.read_text() == "01"
    assert job.run().returncode == 0
    assert job.archive()["epochs"].startswith(b"011")
