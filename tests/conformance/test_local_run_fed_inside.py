"""Pipe channels that are fed in a container, as where the engine runs in a virtual machine: everything else is equal.

Linux shares its FIFOs with containers, so these runs are told to feed inside.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from support.docker_engine import of_runs
from support.local.local_jobs import DEADLINE, LocalJob, script

pytest_plugins = ["support.docker_engine"]
pytestmark = of_runs

IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/fed:1"
INSIDE = """\
import sys
from smspec.local.engines import choice as engines
from smspec.local.engines.containers.container_engine import ContainerEngine
from smspec.local.engines.engine import EngineKind

def opened(job):
    return ContainerEngine(job, "docker", feeds_inside=True)

engines.ENGINES["docker"] = EngineKind(unavailable=lambda: None, open=opened)
from smspec.cli import main
sys.exit(main())
"""

READING = """
    import hashlib, json, os, time
    DATA = "/opt/ml/input/data"
    found = {"listed": sorted(os.listdir(DATA)), "file": open(f"{DATA}/names/a.txt").read()}
    for channel, epochs in (("train", 3), ("pairs", 2)):
        for epoch in range(epochs):
            with open(f"{DATA}/{channel}_{epoch}", "rb") as stream:
                content = stream.read(100) if (channel, epoch) == ("train", 1) else stream.read()
            found[f"{channel}_{epoch}"] = [len(content), hashlib.sha256(content).hexdigest()]
    try:
        open(f"{DATA}/new", "w")
    except OSError as error:
        found["error"] = str(error)
    json.dump(found, open("/opt/ml/model/found.json", "w"))
"""
CHANNELS = """
image: {IMAGE}
channels:
  names: {{s3: "s3://data/names/", local: names/}}
  train: {{s3: "s3://data/train/", local: train/, input_mode: Pipe, shuffle_seed: 3}}
  pairs:
    s3: s3://data/pairs.jsonl
    local: pairs.jsonl
    s3_data_type: AugmentedManifestFile
    attributes: [source-ref, label]
    record_wrapper: RecordIO
    input_mode: Pipe
"""


class FedJob(LocalJob):
    """A job whose runs feed on this machine, or inside."""

    is_inside = False

    def start(self, environment=None, **request):
        if not self.is_inside:
            return super().start(environment, **request)
        self.process = subprocess.Popen(
            [sys.executable, "-c", INSIDE, *self.words(**request)[3:]],
            cwd=self.directory,
            env={**os.environ, "SMSPEC_STOP_GRACE": "5"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return self.process


@pytest.fixture
def job(engine, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    monkeypatch.setenv("PATH", f"{os.path.dirname(engine.client) or '/usr/bin'}{os.pathsep}{os.environ['PATH']}")
    engine.docker("tag", engine.base, IMAGE)
    job = FedJob(tmp_path / "job", engine="docker")
    job.write("names/a.txt", "a name")
    for number in range(3):
        job.write(f"train/{number}", bytes([number]) * 2_000_000)
    for number in range(4):
        job.write(f"images/{number}", bytes([number]) * 1000)
    job.write("pairs.jsonl", manifest(range(4)))
    yield job
    label = ("--quiet", "--filter", "label=smspec.run")
    for words in (("ps", "--all"), ("network", "ls"), ("volume", "ls")):
        assert engine.docker(*words, *label).stdout == ""


def manifest(numbers):
    lines = ({"source-ref": f"images/{number}", "label": number} for number in numbers)
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def outcomes(job):
    """Return what both runs give: on this machine first."""
    found = []
    for job.is_inside in (False, True):
        status = job.run().returncode
        summary = job.summary()
        flows = [(flow["channel"], flow["epoch"], flow["is_early"] or flow["size"]) for flow in summary["channels"]]
        ends = status, summary["exit_status"], summary["failure_reason"]
        found.append((ends, flows, job.archive() if summary["model"] else None))
    return found


def test_streams_and_files_are_equal(job):
    script(job, READING, CHANNELS.format(IMAGE=IMAGE))
    first, second = outcomes(job)
    assert first == second
    assert first[0][0] == 0
    found = json.loads(first[2]["found.json"])
    assert found["train_0"][0] == 6_000_000
    assert "Read-only file system" in found["error"]


def test_faulty_data_fail_with_the_same_words(job):
    job.write("pairs.jsonl", manifest([0, 9]))
    script(job, READING, CHANNELS.format(IMAGE=IMAGE))
    first, second = outcomes(job)
    assert first[0] == second[0]
    assert "images/9" in first[0][2]


def test_killed_feeder_ends_its_streams(job):
    """The first process of a container cannot kill itself."""
    script(
        job,
        """
    print("READ", len(open("/opt/ml/input/data/train_0", "rb").read()), flush=True)
    """,
        CHANNELS.format(IMAGE=IMAGE),
    )
    for job.is_inside in (False, True):
        done = job.run(**{"kill-writer": None})
        assert done.returncode == 0, done.stderr
        assert "READ 3000000\n" in job.log()
        assert "writer killed" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_ended_runs_leave_no_feeder(job, number):
    """After SIGKILL, the feeder ends at once, and the next run removes what is left."""
    waiting = """
    import time
    stream = open("/opt/ml/input/data/train_0", "rb")
    print("read", len(stream.read(10)), flush=True)
    time.sleep(60)
    """
    script(job, waiting, CHANNELS.format(IMAGE=IMAGE))
    job.is_inside = True
    process = job.start()
    job.wait_for_log("read 10")
    process.send_signal(number)
    process.communicate(timeout=DEADLINE)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    if number == signal.SIGKILL:
        script(job, "print('up')", CHANNELS.format(IMAGE=IMAGE))
        assert job.run().returncode == 0
