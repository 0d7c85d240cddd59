"""`smspec rehearse --engine docker` on a real engine: the verdicts are those of processes, and nothing is left."""

from __future__ import annotations

import os
import signal
import time

import pytest

from support.docker_engine import of_runs
from support.rehearsal.faulty_surroundings import FETCHING, MEETING, READING, SAVING
from support.rehearsal.mpi_ranks import PROGRAM
from support.rehearsal.rehearsed_jobs import DEADLINE, LOOP, SPEC, RehearsedJob
from support.sampled_cases import only_with_all_engines
from support.servers.aws_server import BUCKET, CREDENTIALS, REGION, s3_server

pytest_plugins = ["support.docker_engine"]
pytestmark = of_runs

IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/rehearsed:1"
SCRIPT = f"image: {IMAGE}\nsource: src/\nentry_point: train.py\n"
"""An image that exists: smspec builds none, and delivers source and runtime in channels."""

MPI_BASE = "smspec-test-mpi:bookworm"
KEPT, BROKEN = "kept", "broken"


@pytest.fixture
def job(engine, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    monkeypatch.setenv("PATH", f"{os.path.dirname(engine.client) or '/usr/bin'}{os.pathsep}{os.environ['PATH']}")
    engine.docker("tag", engine.base, IMAGE)
    yield RehearsedJob(tmp_path / "job", "docker")
    assert left(engine) == []


def left(engine):
    """Return the containers, networks, and volumes of runs."""
    label = ("--quiet", "--filter", "label=smspec.run")
    listings = (("ps", "--all"), ("network", "ls"), ("volume", "ls"))
    return [each for words in listings for each in engine.docker(*words, *label).stdout.split()]


def states(job, *words, environment=None, **only):
    """Rehearse the promises that are named in ``only``; assert their states, and return what was seen."""
    names = [name.replace("_", "-") for name in only]
    options = [word for name in names for word in ("--only", name)]
    # How long a job hangs until it is stopped; one that keeps its promises may be on a busy machine.
    patience = "8s" if BROKEN in only.values() else "60s"
    promises = job.promises("--patience", patience, *options, *words, environment=environment)
    assert {name: promises[name]["state"] for name in names} == dict(zip(names, only.values(), strict=True)), promises
    return {name: " ".join(promises[name]["seen"]) for name in names}


def test_full_disks_read_only_models_and_kills_fail_a_right_job(job):
    """A process is found and killed inside its container: the engine may number it differently from this machine."""
    slow = SAVING["rename and executor"].replace("sleep(0.15)", "sleep(0.5)")  # a busy engine lists processes slowly
    job.write_job(slow, SCRIPT + "checkpoints: s3://models/checkpoints/\n")
    seen = states(job, full_volume=KEPT, read_only_model=KEPT, killed_process=KEPT)
    assert "No space left on device" in seen["full-volume"]
    assert "Read-only file system" in seen["read-only-model"]
    assert "SIGKILL ended a process that the script started on algo-1" in seen["killed-process"]
    assert "BrokenProcessPool" in seen["killed-process"]


def test_cut_model_in_a_container_is_found(job):
    job.write_job(SAVING["errors ignored"], SCRIPT)
    assert "`model.json` has 4,096 of 5,408 bytes" in states(job, full_volume=BROKEN)["full-volume"]


def test_absent_container_fails_a_job_that_waits_for_it(job):
    hosts = "hosts: {instance_type: ml.m5.large, count: 2, volume: 1GB}\n"
    job.write_job(MEETING["timeout"], SCRIPT + hosts)
    assert "without algo-2, the job fails" in states(job, absent_host=KEPT)["absent-host"]


@only_with_all_engines
def test_lost_state_of_a_container_is_found(job):
    bug = LOOP.replace('state = saved["state"]', 'state = {**saved["state"], "momentum": 0.0}')
    job.write_job(bug, SPEC.replace("source: src/\nentry_point: train.py\n", SCRIPT))
    assert "`model.json`: `" in states(job, lost_host=BROKEN)["lost-host"]


@only_with_all_engines
def test_container_is_stopped_and_starts_from_scratch(job):
    ignoring = LOOP.replace("if os.path.exists(CHECKPOINT):", "if False:")
    job.write_job(ignoring, SPEC.replace("source: src/\nentry_point: train.py\n", SCRIPT))
    seen = states(job, stop=KEPT, progress=BROKEN)
    assert seen["progress"].startswith("the restarted job did everything again (5 values of `loss`)")


@only_with_all_engines
@pytest.mark.parametrize("is_right", [True, False])
def test_ranks_of_mpi_in_containers_are_lost_and_killed(job, engine, tmp_path, is_right):
    engine.import_debian(MPI_BASE, "openmpi-bin", "python3-mpi4py")
    known = 'checks: {ignore: [{rule: SM521, because: "the base has mpi4py"}]}\n'
    hosts = "hosts: {instance_type: ml.m5.large, count: 2, volume: 1GB}\ndistribution: {mpi: {processes_per_host: 1}}\n"
    shared = PROGRAM.replace("generators[ranks.rank]", "generators[0]")
    job.write_job(PROGRAM if is_right else shared, f'{SPEC}{known}image: {{base: "{MPI_BASE}"}}\n{hosts}')
    seen = states(job, lost_host=KEPT if is_right else BROKEN, killed_process=KEPT)
    assert "SIGKILL ended a process of the launcher on algo-2" in seen["killed-process"]


@only_with_all_engines
def test_streams_into_containers_pause_and_end_early(job):
    data, _, program = READING["silence and partial records"]
    channel = "{s3: 's3://data/train/', local: data/}"
    job.write_job(program, f"{SCRIPT}input_mode: Pipe\nchannels: {{train: {channel}}}\n")
    job.write("data/a", data)
    seen = states(job, stalled_pipe=BROKEN, truncated_pipe=BROKEN)
    assert "takes that for its end, after" in seen["stalled-pipe"]


def test_containers_reach_a_server_of_this_machine(job):
    job.write_job(FETCHING["three attempts"], SCRIPT)
    with s3_server() as s3:
        for number in range(5):
            s3.put(str(number), str(number).encode() * 100)
        everyone = '{"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "*"}]}'
        s3.client.put_bucket_policy(Bucket=BUCKET, Policy=everyone)
        environment = {
            **CREDENTIALS,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL": s3.environ["S3_ENDPOINT_URL"],
        }
        seen = states(job, "--host-loopback", environment=environment, slow_s3=KEPT, failing_s3=KEPT)
    assert "503 SlowDown" in seen["slow-s3"]


def test_killed_rehearsal_leaves_what_the_next_run_removes(job, engine):
    waiting = "import time\nopen('/opt/ml/model/a', 'w').write('x')\nprint('up', flush=True)\ntime.sleep(2)"
    job.write_job(waiting, SCRIPT)
    process = job.begin("--only", "full-volume")
    log = job.rehearsal / "trials" / "full-volume" / "logs" / "algo-1.log"
    end = time.monotonic() + DEADLINE
    while not log.exists() or not log.read_bytes():
        assert time.monotonic() < end and process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert len(left(engine)) >= 3
    job.write_job("print('up')", SCRIPT)
    assert job.run().returncode == 0
