"""A restarted job resumes after its last checkpoint."""

import json
import os
import shutil
import signal

import pytest

SAVING = """
    import json, os

    class Handler:
        every = 1

        def begin(self, job):
            os.makedirs(job.checkpoint_dir, exist_ok=True)
            self.path = os.path.join(job.checkpoint_dir, "weights", "model.json")
            self.seen = json.load(open(self.path)) if os.path.exists(self.path) else []

        def epoch(self, job, epoch, streams):
            self.seen.append("%d:%s" % (epoch, b"".join(map(bytes, streams["train"])).decode()))
            if not streams["train"].stopped and (epoch + 1) % self.every == 0:
                self.save()

        def end(self, job):
            print("ended with", *self.seen)

        def save(self):
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with open(self.path, "w") as file:
                json.dump(self.seen, file)
"""


@pytest.fixture
def restart(host):
    """Start the job in a new container that has the checkpoints of the one before, as SageMaker copies them."""

    def start(before=None, handler=SAVING, epochs=5, feed=5, name="job-1", **options):
        made = host(handler, epochs=epochs, **options)
        if before is not None:
            shutil.copytree(before.root / "checkpoints", made.root / "checkpoints", copy_function=shutil.copyfile)
        made.feed("train", *[[b"%d" % fifo] for fifo in range(feed)])
        return made.start(TRAINING_JOB_NAME=name)

    return start


def interrupted(job, epochs):
    """Stop a job while it waits for the FIFO after its last one."""
    for line in iter(job.process.stdout.readline, ""):
        if line.startswith('{"smspec"') and json.loads(line)["epoch"] == epochs - 1:
            break
    job.process.send_signal(signal.SIGTERM)
    assert job.end() == 0, job.err
    return job


def state_of(job):
    return json.loads((job.root / "checkpoints/smspec-progress-algo-1.json").read_text())


def test_restarted_job_resumes_after_its_checkpoint(restart):
    """Epochs go on counting; FIFOs begin with 0 in a new container."""
    first = interrupted(restart(feed=3), 3)
    assert state_of(first) == {"job": "job-1", "completed": 3}
    second = restart(first)
    assert second.end() == 0, second.err
    assert second.out.endswith("ended with 0:0 1:1 2:2 3:0 4:1\n")
    assert [(metrics["epoch"], metrics["fifo"]) for metrics in second.metrics()] == [(3, 0), (4, 1)]
    assert second.err == f"smspec: resuming: 3 of 5 epochs are in {second.root}/checkpoints\n"


def test_completed_job_leaves_no_state(restart):
    job = restart()
    assert job.end() == 0, job.err
    assert os.listdir(job.root / "checkpoints") == ["weights"]


def test_different_job_with_old_checkpoints_begins_at_epoch_0(restart):
    """People go on training from the checkpoints of an earlier job; that must not skip what they ask for."""
    first = interrupted(restart(feed=3), 3)
    second = restart(first, name="job-2")
    assert second.end() == 0, second.err
    assert second.out.endswith("ended with 0:0 1:1 2:2 0:0 1:1 2:2 3:3 4:4\n")
    assert "resuming" not in second.err


def test_resume_uses_the_checkpoint(restart):
    """A handler that saves every second epoch goes on where it saved."""
    handler = SAVING.replace("every = 1", "every = 2")
    first = interrupted(restart(handler=handler, feed=3), 3)
    assert state_of(first)["completed"] == 2
    second = restart(first, handler=handler)
    assert second.end() == 0, second.err
    assert second.out.endswith("ended with 0:0 1:1 2:0 3:1 4:2\n")


def test_handler_without_checkpoints_begins_at_epoch_0(restart):
    first = interrupted(restart(handler=SAVING.replace("every = 1", "every = 99"), feed=3), 3)
    assert os.listdir(first.root / "checkpoints") == []
    second = restart(first)
    assert second.end() == 0, second.err
    assert second.out.endswith("ended with 0:0 1:1 2:2 3:3 4:4\n")


def test_state_saved_by_end_on_sigterm_is_used(restart):
    """The epoch that was interrupted is read again whole."""
    handler = SAVING.replace("every = 1", "every = 99").replace('print("ended', 'self.save(); print("ended')
    first = interrupted(restart(handler=handler, feed=2), 2)
    assert state_of(first)["completed"] == 2
    second = restart(first, handler=handler)
    assert second.end() == 0, second.err
    assert [metrics["epoch"] for metrics in second.metrics()] == [2, 3, 4]


@pytest.mark.parametrize(("answer", "epochs"), [("0", [0, 1, 2, 3, 4]), ("epoch + 1", [4]), ("7", [])])
def test_handler_may_choose_the_epoch(restart, answer, epochs):
    handler = SAVING + f"        def resume(self, job, epoch):\n            return {answer}\n"
    second = restart(interrupted(restart(feed=3), 3), handler=handler)
    assert second.end() == 0, second.err
    assert [metrics["epoch"] for metrics in second.metrics()] == epochs


def test_resume_must_return_an_epoch(restart):
    job = restart(handler=SAVING + "        def resume(self, job, epoch):\n            pass\n")
    assert job.end() == 1
    assert job.err.endswith("TypeError: `resume` of the handler returned `None`, not the epoch to begin with\n")


def test_missing_checkpoint_directory_has_no_state(restart):
    job = restart(handler="def handler(job, epoch, streams):\n    list(streams['train'])\nHandler = handler\n", feed=5)
    assert job.end() == 0, job.err
    assert not (job.root / "checkpoints").exists()
    assert job.err == ""


@pytest.mark.parametrize("state", ["", "[]", "{}", '{"job": "job-1", "completed": null}', "\0"])
def test_unreadable_state_is_reported_and_ignored(restart, state):
    first = interrupted(restart(feed=3), 3)
    (first.root / "checkpoints/smspec-progress-algo-1.json").write_text(state)
    second = restart(first)
    assert second.end() == 0, second.err
    assert len(second.metrics()) == 5
    assert second.err.startswith("smspec: beginning with epoch 0: cannot read ")


def test_unwritable_state_does_not_end_the_job(restart):
    handler = SAVING.replace(
        "        def end",
        "            os.makedirs(self.path[:-18] + 'smspec-progress-algo-1.json~', exist_ok=True)\n\n        def end",
    )
    job = restart(handler=handler)
    assert job.end() == 0, job.err
    assert job.err.startswith("smspec: a restart will begin with an earlier epoch: cannot write ")
