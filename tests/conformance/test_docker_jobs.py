"""Generated images, built and started like SageMaker does, compared with local processes.

`docker run IMAGE train`, with /opt/ml/input, /opt/ml/model, /opt/ml/output and the checkpoint directory mounted one by
one: a mount over all of /opt/ml would hide the source that lies in the image.
"""

import json
import os
import re
import shutil
import time

import pytest

from support.local.local_jobs import HEAD, IMAGE, LocalJob
from support.pipe.fifo_writers import Writer
from support.smspec_command import smspec

pytest_plugins = ["support.docker_engine"]
pytestmark = pytest.mark.xdist_group("docker")  # one engine, where xdist is told to keep groups together

MOUNTED = ("input", "model", "output", "checkpoints")

SCRIPT = """
    import json, os, signal, sys, time
    import smspec_runtime
    job = smspec_runtime.job()
    print("argv", sys.argv)
    print("hyperparameters", json.dumps(job.hyperparameters, sort_keys=True))
    print("SM_HPS", os.environ["SM_HPS"], "unbuffered", os.environ.get("PYTHONUNBUFFERED"))
    for name in ("a.csv", "deeper/b.csv"):
        print(name, open(os.path.join(os.environ["SM_CHANNEL_TRAIN"], name)).read())
    with open("beside.txt") as beside:
        print("source", beside.read(), "mode", oct(os.stat("tools/go").st_mode & 0o777))
    with open(os.path.join(os.environ["SM_MODEL_DIR"], "model.txt"), "w") as model:
        model.write("trained")
    ending = job.hyperparameters["ending"]
    if ending == "raise":
        raise ValueError("the loss is not a number: naïve")
    if ending == "exit":
        sys.exit(7)
    if ending == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if ending == "stop":
        def stop(*_):
            with open(os.path.join(os.environ["SM_MODEL_DIR"], "stopped.txt"), "w") as model:
                model.write("in time")
            sys.exit(0)
        signal.signal(signal.SIGTERM, stop)
        print("ready", flush=True)
        while True:
            time.sleep(0.1)  # A signal that comes right before a sleep is heard after it.
"""

SCRIPT_SPEC = """
    source: src/
    entry_point: {{script: train.py, args: [--mode, "a b"]}}
    channels:
      train: {{s3: "s3://data/train/", local: data/}}
    hyperparameters: {{lr: 1e-3, layers: [1, 2], name: "5", ending: {ending}}}
"""

HANDLER = """
    import hashlib, os
    class Trainer:
        def begin(self, job):
            self.digest = hashlib.sha256()
        def epoch(self, job, epoch, streams):
            for chunk in streams["train"]:
                self.digest.update(chunk)
        def end(self, job):
            with open(os.path.join(job.model_dir, "digest"), "w") as model:
                model.write(self.digest.hexdigest())
"""

PIPE_SPEC = """
    source: src/
    entry_point: {pipe_loop: "reader:Trainer", epochs: 3}
    input_mode: Pipe
    channels:
      train: {s3: "s3://data/train/", local: data/}
"""


class Outcome:
    """What is left of a job: exit status, failure file, model files, and the lines it printed."""

    def __init__(self, status, base, log):
        failure = base / "output/failure"
        self.status = status
        self.failure = failure.read_text() if failure.exists() else None
        self.model = {
            str(p.relative_to(base / "model")): p.read_bytes() for p in (base / "model").rglob("*") if p.is_file()
        }
        self.lines = [
            line for line in log.splitlines() if line.startswith(("argv", "hyperparameters", "SM_HPS", "source"))
        ]
        self.lines += re.findall(r"(?:a|b)\.csv .*|Completed epoch \d+; read \d+ bytes", log)

    @property
    def reason(self):
        """The two lines of the failure file that do not depend on where the program lies."""
        return None if self.failure is None else self.failure.splitlines()[:2]


@pytest.fixture
def job(engine, tmp_path):
    job = LocalJob(tmp_path / "job")
    job.head = HEAD.replace(IMAGE, engine.base) + "checkpoints: s3://models/job/checkpoints/\n"
    return job


def built(engine, job):
    """Build the image of a job and return its name."""
    done = smspec("build", "-o", "tree", cwd=job.directory)
    assert done.status == 0, done.err
    engine.build(job.directory / "tree", "job")
    return "job"


def as_a_process(job):
    """Run the job with the local process engine."""
    ended = job.run()
    status = job.summary()["hosts"][0]["exit_status"] if "hosts" in job.summary() else job.summary()["exit_status"]
    return ended, Outcome(status, job.host(), job.log())


def opt_ml(job):
    """Make a fresh /opt/ml with the input that the local run laid out."""
    base = job.directory / "opt-ml"
    shutil.rmtree(base, ignore_errors=True)
    for name in MOUNTED:
        (base / name).mkdir(parents=True)
    shutil.copytree(job.host() / "input", base / "input", dirs_exist_ok=True)
    config = base / "input/config/resourceconfig.json"
    resources = json.loads(config.read_text())
    config.write_text(json.dumps({**resources, "network_interface_name": "lo"}))
    return base


def run_words(base, image, *options):
    mounts = [f"--volume={base / name}:/opt/ml/{name}" for name in MOUNTED]
    return ["run", "--network=none", "--hostname=algo-1", *options, *mounts, image, "train"]


def in_a_container(engine, job, image):
    base = opt_ml(job)
    done = engine.docker(*run_words(base, image, "--rm"), check=False)
    return Outcome(done.returncode, base, done.stdout + done.stderr)


@pytest.fixture
def script(job):
    job.spec(SCRIPT_SPEC.format(ending="return"), head=job.head)
    job.write("src/train.py", SCRIPT)
    job.write("src/beside.txt", "beside")
    job.write("src/tools/go", "#!/bin/sh\n")
    (job.directory / "src/tools/go").chmod(0o755)
    job.write("data/a.csv", "1,2")
    job.write("data/deeper/b.csv", "3,4")
    return job


@pytest.mark.parametrize("ending", ["return", "kill"])
def test_script_ends_as_in_a_local_run(engine, script, ending):
    script.spec(SCRIPT_SPEC.format(ending=ending), head=script.head)
    _, local = as_a_process(script)
    contained = in_a_container(engine, script, built(engine, script))
    assert contained.status == {"return": 0, "kill": 137}[ending]
    assert contained.status == local.status
    assert contained.reason == local.reason
    assert (contained.failure is None) == (ending == "return")
    assert contained.model == local.model == {"model.txt": b"trained"}
    assert contained.lines == local.lines
    assert len(contained.lines) == 6


def test_changed_hyperparameter_keeps_the_image(engine, script):
    """The image holds nothing of hyperparameters, channels and hosts."""
    first = json.loads(smspec("render", "--api-json", cwd=script.directory).out)
    script.spec(SCRIPT_SPEC.format(ending="exit"), head=script.head)
    second = json.loads(smspec("render", "--api-json", cwd=script.directory).out)
    image = "AlgorithmSpecification"
    assert first[image] == second[image]
    assert first["TrainingJobName"] != second["TrainingJobName"]


def test_docker_stop_reaches_the_script(engine, script):
    """StopTrainingJob is `docker stop -t 120`: SIGTERM now, SIGKILL two minutes later."""
    script.spec(SCRIPT_SPEC.format(ending="return"), head=script.head)
    as_a_process(script)
    image = built(engine, script)
    base = opt_ml(script)
    hyperparameters = base / "input/config/hyperparameters.json"
    hyperparameters.write_text(json.dumps({**json.loads(hyperparameters.read_text()), "ending": "stop"}))
    engine.docker(*run_words(base, image, "--detach", "--name=stopped"))
    deadline = time.monotonic() + 60
    while "ready" not in engine.docker("logs", "stopped").stdout:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    began = time.monotonic()
    engine.docker("stop", "--time=120", "stopped")
    assert time.monotonic() - began < 30
    state = json.loads(engine.docker("inspect", "stopped").stdout)[0]["State"]
    assert (state["ExitCode"], state["OOMKilled"]) == (0, False)
    assert (base / "model/stopped.txt").read_text() == "in time"
    engine.docker("rm", "stopped")


def test_pipe_loop_reads_as_in_a_local_run(engine, job):
    """FIFOs on the host, read in the container: one per epoch."""
    job.spec(PIPE_SPEC, head=job.head)
    job.write("src/reader.py", HANDLER)
    content = bytes(range(256)) * 40_000
    job.write("data/part-0", content)
    ended, local = as_a_process(job)
    assert ended.returncode == 0, ended.stderr
    image = built(engine, job)
    base = opt_ml(job)
    writers = feeding(base / "input/data", "train", content, epochs=4)
    done = engine.docker(*run_words(base, image, "--rm"), check=False)
    contained = Outcome(done.returncode, base, done.stdout + done.stderr)
    assert (contained.status, contained.failure) == (0, None), done.stderr
    assert contained.model == local.model
    assert [line for line in contained.lines if "Completed" in line] == [
        f"Completed epoch {epoch}; read {len(content)} bytes" for epoch in range(3)
    ]
    assert contained.lines == local.lines
    assert [writer.written for writer in writers] == [len(content)] * 3 + [0]
    os.close(os.open(base / "input/data/train_3", os.O_RDONLY | os.O_NONBLOCK))  # lets the last writer go


def feeding(directory, channel, content, epochs):
    """Create the FIFO of each epoch and a thread that fills it; the last one is never read, as on SageMaker."""
    directory.mkdir(parents=True, exist_ok=True)
    for epoch in range(epochs):
        os.mkfifo(directory / f"{channel}_{epoch}")
    return [Writer(directory / f"{channel}_{epoch}", [content]) for epoch in range(epochs)]
