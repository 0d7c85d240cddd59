"""`smspec run --engine docker` on a real engine: the image is built, and each host is a container."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from support.docker_engine import of_runs, running_engine
from support.local.local_jobs import DEADLINE, IMAGE, LocalJob, script

pytest_plugins = ["support.docker_engine"]
pytestmark = of_runs

MOMENTS = int(os.environ.get("SMSPEC_KILLED_RUNS", "2"))
SCRIPT = """
    import json, os, socket, sys, time
    host, base = os.environ["SM_CURRENT_HOST"], os.environ.get("SAGEMAKER_BASE_DIR", "/opt/ml")
    print("HOST", socket.gethostname(), json.loads(os.environ["SM_HOSTS"]), flush=True)
    print("READ", open(base + "/input/data/train/a.csv").read(), os.environ["GREETING"], os.environ["SECRET"][::-1])
    if host == "algo-1":  # it ends the job of all hosts, which may not have written theirs by then
        with open(f"{base}/model/{host}", "w") as model:
            model.write("trained")
        os.chmod(f"{base}/model/{host}", 0o600)
    if base == "/opt/ml":
        print("WRITABLE", os.access(base + "/input/data/train/a.csv", os.W_OK), os.access(base + "/model", os.W_OK))
        print(f"PEERS {[socket.gethostbyname(name)[:7] for name in json.loads(os.environ['SM_HOSTS'])]}", flush=True)
    ending = json.loads(os.environ["SM_HPS"])["ending"]
    if ending == "raise" and host == "algo-1":
        raise ValueError("the loss is not a number: naïve")
    if ending == "wait":
        print("ready", flush=True)
        while True:
            time.sleep(0.1)
    if ending == "grow":
        held = bytearray(b"x" * 300_000_000)
        time.sleep(0.5)
"""

MORE = """
environment: {{GREETING: 'say "a, b" = $HOME'}}
secrets: {{SECRET: "arn:aws:secretsmanager:us-west-2:111122223333:secret:key-AbCdEf"}}
channels: {{train: {{s3: "s3://data/train/", local: data/}}}}
hyperparameters: {{ending: {ending}}}
"""


@pytest.fixture
def job(engine, tmp_path, monkeypatch):
    """A job whose image the engine can build without a network."""
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    monkeypatch.setenv("SECRET", "terces a")
    monkeypatch.setenv("PATH", f"{os.path.dirname(engine.client) or '/usr/bin'}{os.pathsep}{os.environ['PATH']}")
    job = LocalJob(tmp_path / "job", engine="docker")
    job.write("data/a.csv", "1,2")
    return job


def described(job, engine, ending, more=""):
    script(job, SCRIPT, MORE.format(ending=ending) + more)
    text = (job.directory / "job.yaml").read_text()
    (job.directory / "job.yaml").write_text(text.replace(IMAGE, engine.base))


def left(engine):
    """Return the containers and networks of runs."""
    label = ("--quiet", "--filter", "label=smspec.run")
    return engine.docker("ps", "--all", *label).stdout.split() + engine.docker("network", "ls", *label).stdout.split()


def test_containers_have_data_secrets_and_peers(job, engine):
    described(job, engine, "raise")
    ended = job.run(hosts=2)
    assert re.search(r"(?m)^engine: docker \(.*/job:[0-9a-f]+\)$", ended.stderr), ended.stderr
    assert "HOST algo-1 ['algo-1'" in job.log()
    assert 'READ 1,2 say "a, b" = $HOME a secret' in job.log()
    assert "WRITABLE False True" in job.log()
    assert f"PEERS {['10.213.'] * 2}" in job.log()
    assert (ended.returncode, job.archive()) == (1, {"algo-1": b"trained"})
    assert left(engine) == []


def test_container_has_the_memory_that_is_asked_for(job, engine):
    described(job, engine, "grow")
    ended = job.run(memory="1GB")
    assert ended.returncode == 0
    (host,) = job.summary()["hosts"]
    assert 600_000_000 < host["peak_memory"] <= host["total_memory"] < 700_000_000
    assert 0.01 < host["cpu_seconds"] < 60
    assert re.search(r"(?m)^usage    algo-1: .* of CPU time, 6\d\d MB in the largest process", ended.stdout)
    job.run(memory="128MB")
    assert (job.summary()["status"], job.summary()["exit_status"]) == ("Failed", 137)


@pytest.mark.parametrize("place", ["/opt/ml/model-1/checkpoints", "/data/checkpoints"])
def test_checkpoints_outlive_containers_in_any_place(job, engine, place):
    """Also a run whose containers cannot be created."""
    source = f"""
    import os, sys
    found = os.listdir("{place}")
    open("{place}/" + str(len(found)), "w").close()
    print("FOUND", found)
    sys.exit(not found)
    """
    script(job, source, f"checkpoints: {{s3: s3://models/checkpoints/, local: {place}}}\n")
    text = (job.directory / "job.yaml").read_text()
    (job.directory / "job.yaml").write_text(text.replace(IMAGE, engine.base))
    assert [job.run(**request).returncode for request in ({}, {"memory": "1MB"}, {})] == [1, 3, 0]
    assert "FOUND ['0']" in job.log()
    assert sorted(os.listdir(f"{job.run_directory}/hosts/algo-1{place}")) == ["0", "1"]


def test_second_run_builds_nothing(job, engine):
    described(job, engine, "complete", 'description: "again"\n')
    job.run()
    assert "building the image" not in job.run().stderr


def test_failed_build_shows_its_last_lines(job, engine):
    described(job, engine, "complete")
    text = (job.directory / "job.yaml").read_text()
    (job.directory / "job.yaml").write_text(
        re.sub(r"(?m)^image: .*$", f'image: {{base: "{engine.base}", run: ["echo before; ls /not-there"]}}', text)
    )
    ended = job.run()
    assert ended.returncode == 1
    assert "`docker build` failed" in ended.stderr
    assert "/not-there" in ended.stderr
    assert not job.run_directory.exists()


def test_isolated_hosts_are_on_an_internal_network(job, engine):
    network = "{subnets: [subnet-0123456789abcdef0], security_groups: [sg-0123456789abcdef0], isolation: true}"
    described(job, engine, "wait", f"network: {network}\n")
    text = (job.directory / "job.yaml").read_text()
    (job.directory / "job.yaml").write_text(
        re.sub(
            r"(?m)^secrets: .*\n",
            "environment: {GREETING: x, SECRET: y}\n",
            re.sub(r"(?m)^environment: .*\n", "", text),
        )
    )
    process = job.start(hosts=2)
    job.wait_for_log("ready")
    network = engine.docker("network", "ls", "--quiet", "--filter", "label=smspec.run").stdout.strip()
    assert engine.docker("network", "inspect", "--format", "{{.Internal}}", network).stdout == "true\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert left(engine) == []


def test_stopped_run_leaves_nothing(job, engine):
    described(job, engine, "wait")
    process = job.start()
    job.wait_for_log("ready")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert left(engine) == []
    assert job.summary()["status"] == "Stopped"


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_next_run_removes_what_a_killed_run_left(job, engine, moment):
    """The first moment is when the job runs, others are drawn."""
    described(job, engine, "wait")
    process = job.start()
    if moment == 0:
        job.wait_for_log("ready")
    else:
        time.sleep(random.Random(moment).uniform(0.3, 4))
    process.kill()
    process.communicate(timeout=DEADLINE)
    assert moment > 0 or len(left(engine)) == 2
    described(job, engine, "complete")
    ended = job.run()
    assert ended.returncode == 0, ended.stderr
    assert left(engine) == []


def test_running_job_of_a_different_user_goes_on(job, engine, tmp_path):
    """They share the engine, and see no files of each other."""
    described(job, engine, "wait")
    process = job.start()
    job.wait_for_log("ready")
    before = left(engine)
    other = LocalJob(tmp_path / "other", engine="docker")
    other.write("data/a.csv", "1,2")
    described(other, engine, "complete")
    hidden = f'mount -t tmpfs tmpfs "{job.directory}" && exec "$@"'
    words = ["unshare", "--mount", "sh", "-c", hidden, "sh", *other.words()]
    ended = subprocess.run(words, cwd=other.directory, capture_output=True, text=True, timeout=DEADLINE)
    assert ended.returncode == 0, ended.stderr
    assert left(engine) == before
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=DEADLINE)
    assert (process.returncode, left(engine)) == (130, [])


def test_user_of_the_image_may_lack_rights(job, engine):
    """The directories below /opt/ml are the author's; a different user fails with the words of the script."""
    described(job, engine, "complete")
    text = (job.directory / "job.yaml").read_text()
    (job.directory / "job.yaml").write_text(text.replace(f'"{engine.base}"', f'"{engine.base}", user: "1000:1000"'))
    ended = job.run()
    assert ended.returncode == 1, ended.stderr
    assert "PermissionError: [Errno 13] Permission denied: '/opt/ml/model/algo-1'" in job.log()
    assert (job.summary()["status"], job.summary()["exit_status"]) == ("Failed", 1)


def test_existing_image_runs_with_the_runtime_injected(job, engine):
    name = "111122223333.dkr.ecr.us-west-2.amazonaws.com/base:1"
    engine.docker("tag", engine.base, name)
    text = """
        import os
        print("MODULES", os.getcwd(), os.path.exists("/opt/ml/input/data/smspec/entrypoint.py"))
    """
    script(job, text, f"image: {name}\n")
    ended = job.run()
    assert ended.returncode == 0, ended.stderr
    assert "MODULES /opt/ml/code True" in job.log()


def test_container_that_lost_its_client_may_run_on(job, engine):
    """Nothing shows its end, so the run is not its failure, and what it writes stays closed to others."""
    described(job, engine, "wait")
    process = job.start()
    job.wait_for_log("ready")
    clients = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has ended
            words, variables = (Path("/proc", name, file).read_bytes() for file in ("cmdline", "environ"))
            if b"\0start\0--attach\0" in words and engine.host.encode() in variables:
                clients.append(int(name))
    assert clients != []
    for client in clients:
        os.kill(client, signal.SIGKILL)
    assert_lost(process, job)
    described(job, engine, "complete")
    ended = job.run()
    assert (ended.returncode, left(engine)) == (0, []), ended.stderr


def test_engine_that_fails_is_not_the_job(job, tmp_path, monkeypatch):
    """Its runtime is missing, as on machines with GPUs; then the engine ends while the job runs."""
    runtime = tmp_path / "nvidia-container-runtime"
    with running_engine(f"--add-runtime=nvidia={runtime}", "--default-runtime=nvidia") as engine:
        monkeypatch.setenv("DOCKER_HOST", engine.host)
        engine.import_debian(engine.base)
        described(job, engine, "wait")
        ended = job.run()
        assert ended.returncode == 3, ended.stderr
        assert "`docker start` failed: " in ended.stderr
        assert "nvidia-container-runtime" in ended.stderr.splitlines()[-1]
        assert (job.run_directory.exists(), left(engine)) == (False, [])
        runtime.write_text('#!/bin/sh\nexec runc "$@"\n')
        runtime.chmod(0o755)
        process = job.start()
        job.wait_for_log("ready")
        engine.stop()
        assert_lost(process, job)


def assert_lost(process, job):
    error = process.communicate(timeout=DEADLINE)[1]
    assert process.returncode == 3, error
    assert re.search(r"algo-1 may still run: `docker rm --force [0-9a-f]{12}` ends it; `.*/hosts` stays closed", error)
    assert stat.S_IMODE((job.run_directory / "hosts").stat().st_mode) == 0o700
    assert (job.run_directory / "hosts/algo-1/opt/ml/model").is_dir()


def test_missing_engine_is_one_sentence(job, tmp_path, monkeypatch):
    described(job, type("engine", (), {"base": "python:3.12"}), "complete")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    ended = job.run()
    assert ended.returncode == 3
    assert re.fullmatch(r"smspec: `--engine docker` is not available: `docker info` fails: .*\n", ended.stderr)
