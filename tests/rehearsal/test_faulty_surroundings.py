"""Right scripts keep the promises about their surroundings, scripts with a bug break them."""

from __future__ import annotations

import re
import signal
import sys
import time

import pytest

from support.rehearsal.faulty_surroundings import FETCHING, MEETING, READING, SAVING
from support.rehearsal.rehearsed_jobs import DEADLINE, RehearsedJob
from support.sampled_cases import left_out
from support.servers.aws_server import BUCKET, CREDENTIALS, REGION, s3_server

pytestmark = pytest.mark.needs_namespaces

SPEC = "source: src/\nentry_point: train.py\n"
IMAGE = f'image: {{base: "python:{sys.version_info[0]}.{sys.version_info[1]}-slim", python_packages: [boto3, torch]}}\n'
TWO_HOSTS = "hosts: {instance_type: ml.m5.large, count: 2, volume: 1GB}\n"
KEPT, BROKEN, NOT = "kept", "broken", "not rehearsed"


@pytest.fixture
def job(tmp_path):
    job = RehearsedJob(tmp_path / "job", "namespace")
    yield job
    job.assert_nothing_left()


def states(job, *words, environment=None, **only):
    """Rehearse the promises that are named in ``only`` with a state; assert the states, and return the promises."""
    names = [name.replace("_", "-") for name in only]
    options = [word for name in names for word in ("--only", name)]
    # How long a job hangs until it is stopped; one that keeps its promises may be on a busy machine.
    # A stream pauses for as long.
    patience = "5s" if BROKEN in only.values() or "stalled_pipe" in only else "30s"
    promises = job.promises("--patience", patience, *options, *words, environment=environment)
    found = {name: promises[name]["state"] for name in names}
    assert found == dict(zip(names, only.values(), strict=True)), promises
    assert all(promise["advice"] and promise["log"] for promise in promises.values() if promise["state"] == BROKEN)
    return {name: " ".join(promises[name]["seen"]) for name in names}


# Containers have the sample of errors that are ignored.
@pytest.mark.parametrize("name", [left_out(name) if name == "errors ignored" else name for name in SAVING])
def test_failed_saving_and_killed_processes_fail_right_jobs(job, name):
    job.write_job(SAVING[name], SPEC + "checkpoints: s3://models/checkpoints/\n")
    state = KEPT if name in ("one process", "rename and executor") else BROKEN
    seen = states(job, full_volume=state, read_only_model=state, killed_process=state)
    killed = "the script" if name == "one process" else "a process that the script started"
    assert f"SIGKILL ended {killed} on algo-1" in seen["killed-process"]
    assert ("hangs" in seen["killed-process"]) == (name == "status ignored")
    if state == KEPT:
        assert "No space left on device" in seen["full-volume"]
        assert "Read-only file system" in seen["read-only-model"]
    else:
        assert "the model has no `model.json`" in seen["read-only-model"]
        assert re.search(r"`model.json` has [\d,]+ of [\d,]+ bytes", seen["full-volume"])


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("timeout", KEPT),
        left_out("limited polls", KEPT),
        ("waits forever", BROKEN),
        left_out("polls forever", BROKEN),
    ],
)
def test_absent_host_fails_jobs_that_do_not_wait_forever(job, name, state):
    job.write_job(MEETING[name], SPEC + TWO_HOSTS + "metrics: [{name: loss, regex: 'loss=([0-9.]+)'}]\n")
    seen = states(job, absent_host=state)["absent-host"]
    assert {KEPT: "without algo-2, the job fails", BROKEN: "hangs: algo-2 never comes up"}[state] in seen


@pytest.mark.parametrize(
    ("name", "stalled", "truncated"),
    [
        ("strict RecordIO", KEPT, KEPT),
        left_out("JSON lines", KEPT, KEPT),
        ("silence and partial records", BROKEN, BROKEN),
        left_out("silence and partial rows", BROKEN, BROKEN),
        left_out("first row of all", KEPT, NOT),
        ("first bytes", NOT, NOT),
        left_out("bytes", KEPT, NOT),
    ],
)
def test_stalled_and_truncated_streams(job, name, stalled, truncated):
    data, content_type, program = READING[name]
    declared = f"content_type: {content_type}, " if content_type else ""
    channel = f"{{s3: 's3://data/train/', {declared}local: data/}}"
    job.write_job(program, f"{SPEC}input_mode: Pipe\nchannels: {{train: {channel}}}\n")
    job.write("data/a", data)
    seen = states(job, stalled_pipe=stalled, truncated_pipe=truncated)
    if stalled == BROKEN:
        assert "takes that for its end, after" in seen["stalled-pipe"]
    if truncated == NOT:
        expected = "only in some formats" if name == "bytes" else "the fault did not strike"
        assert expected in seen["truncated-pipe"]


@pytest.fixture(scope="module")
def s3():
    with s3_server() as server:
        for number in range(5):
            server.put(str(number), str(number).encode() * 100)
        everyone = '{"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "*"}]}'
        server.client.put_bucket_policy(Bucket=BUCKET, Policy=everyone)
        yield server


@pytest.mark.parametrize(
    ("name", "slow", "failing"),
    [
        ("boto3", KEPT, KEPT),
        left_out("no second attempt", BROKEN, KEPT),
        left_out("attempts without end", KEPT, BROKEN),
        ("errors ignored", BROKEN, BROKEN),
        ("errors ignored by chance", KEPT, NOT),
    ],
)
def test_slow_and_failing_endpoints(job, s3, name, slow, failing):
    job.write_job(FETCHING[name], IMAGE + SPEC)
    endpoint = s3.environ["S3_ENDPOINT_URL"]
    environment = {**CREDENTIALS, "AWS_DEFAULT_REGION": REGION, "AWS_ENDPOINT_URL": endpoint}
    words = ("--host-loopback", "--python", sys.executable)
    states(job, *words, environment=environment, slow_s3=slow, failing_s3=failing)


REPLACING = """
import os
place, author = "/opt/ml/a/b/checkpoints", os.environ["AUTHOR"]
for name in ("/opt/ml/a/b", "/opt/ml/a"):
    try:
        os.rename(name, "/opt/ml/moved")
        os.makedirs(os.path.dirname(name), exist_ok=True)
        os.symlink(author, name)
        place = "/opt/ml/moved/b/checkpoints" if name == "/opt/ml/a" else "/opt/ml/moved/checkpoints"
        break
    except OSError as fault:
        print(fault)
for path in (place + "/written", "/opt/ml/model/a"):
    with open(path, "w") as file:
        file.write("x" * 100_000)
"""


def test_content_of_a_volume_goes_to_the_host_alone(job):
    """A directory above the checkpoints cannot be replaced by a link to those of the author."""
    for path in ("author/checkpoints/own", "author/b/checkpoints/own"):
        job.write(path, "of the author")
    checkpoints = 'checkpoints: {s3: "s3://models/c/", local: /opt/ml/a/b/checkpoints}\n'
    job.write_job(REPLACING, f'{SPEC}{checkpoints}environment: {{AUTHOR: "{job.directory}/author"}}\n')
    states(job, full_volume=KEPT)
    author = job.directory / "author"
    assert {path.relative_to(author).as_posix() for path in author.rglob("*") if path.is_file()} == {
        "checkpoints/own",
        "b/checkpoints/own",
    }


def test_faults_that_strike_nothing_prove_nothing(job):
    """The hosts of this job do not wait for each other, send no request, and write no file."""
    job.write_job("print('up')", SPEC + TWO_HOSTS)
    only = ("absent_host", "full_volume", "read_only_model", "slow_s3")
    seen = states(job, environment={"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, **dict.fromkeys(only, NOT))
    assert seen == {
        "absent-host": "the fault did not strike: the other hosts do not need algo-2",
        "full-volume": "the job writes neither a model nor checkpoints",
        "read-only-model": "the job writes no model",
        "slow-s3": "the fault did not strike: the job sends no request to the endpoint in its environment",
    }


def test_faults_that_cannot_meet_a_job_have_a_reason(job):
    job.write_job("import time", SPEC)
    job.engine = "process"
    only = ("full_volume", "read_only_model", "absent_host", "stalled_pipe", "truncated_pipe", "slow_s3", "failing_s3")
    seen = states(job, environment={"AWS_ENDPOINT_URL": ""}, **dict.fromkeys(only, NOT))
    assert seen["full-volume"] == "`--engine process` cannot limit the disk of a host: pass `--engine namespace`"
    assert seen["absent-host"] == "the job has one host"
    assert seen["stalled-pipe"] == seen["truncated-pipe"] == "the job has no Pipe channel"
    assert seen["slow-s3"].startswith("AWS_ENDPOINT_URL is not set: ")


DISTRIBUTED = """
import os, time, torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.ones(1)
for _ in range(10):
    dist.all_reduce(total)
    total /= dist.get_world_size()
    time.sleep(0.1)
if dist.get_rank() == 0:
    torch.save(total, os.environ["SM_MODEL_DIR"] + "/total.pt")
"""


@pytest.mark.slow
def test_killed_rank_and_absent_host_end_torchrun(job):
    pytest.importorskip("torch")
    job.write_job(DISTRIBUTED, IMAGE + SPEC + TWO_HOSTS + "distribution: torchrun\n")
    words = ("--python", sys.executable, "--patience", "20s")
    seen = states(job, *words, killed_process=KEPT, absent_host=KEPT)
    assert "SIGKILL ended a process of the launcher on algo-2" in seen["killed-process"]
    assert "rank 1: SIGKILL" in seen["killed-process"]
    assert "waiting for clients. 1/2 clients joined" in seen["absent-host"]


def test_killed_rehearsal_leaves_no_volume(job):
    job.write_job("import time\nopen('/opt/ml/model/a', 'w').write('x')\nprint('up', flush=True)\ntime.sleep(2)", SPEC)
    process = job.begin("--only", "full-volume")
    log = job.rehearsal / "trials" / "full-volume" / "logs" / "algo-1.log"
    end = time.monotonic() + DEADLINE
    while not log.exists() or not log.read_bytes():
        assert time.monotonic() < end and process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    job.assert_nothing_left()
