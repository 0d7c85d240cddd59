"""`smspec submit` killed at its calls to AWS: the next submission ends with one job, as if nothing had been.

To be killed after a call that changes nothing is to be killed after the last one that did, so these stand for all.
SMSPEC_EVERY_CALL tries all of them.
"""

import json
import os
import signal
import subprocess

import pytest

from support.container_client import FakeClient
from support.forked_command import start_command
from support.servers.aws_server import BUCKET
from support.servers.call_gate import call_gate
from support.servers.ecr_server import docker_image, ecr_server
from support.small_job import BUILT, write_job
from support.smspec_command import environment, smspec

pytestmark = pytest.mark.slow

SPEC = (
    BUILT.replace("s3://models", f"s3://{BUCKET}").replace("source: src/", "source: {dir: src/, delivery: channel}")
    + f"channels: {{train: {{s3: s3://{BUCKET}/data/, local: data}}}}\n"
)
READING = ("Describe", "Get", "List", "BatchGet", "GET ", "HEAD ")
WORDS = ("submit", "--upload-data", "--detach", "--engine", "docker")


class PushedImages(dict):
    """What the registry has, once the client has pushed."""

    def __init__(self, client):
        super().__init__()
        self._client = client

    def __contains__(self, path):
        return super().__contains__(path) and bool(self._client.asked("push"))


@pytest.fixture
def aws(submit_servers, tmp_path, monkeypatch):
    store, jobs = submit_servers
    client = FakeClient(tmp_path / "client")
    monkeypatch.chdir(tmp_path)
    write_job(tmp_path, SPEC, data__a="1", data__b="2")
    image = json.loads(smspec("render", "--api-json").out)["AlgorithmSpecification"]["TrainingImage"]
    with ecr_server(tmp_path) as ecr:
        ecr.contents = PushedImages(client)
        ecr.add("small", image.rpartition(":")[2], docker_image())
        targets = {
            "SageMaker": jobs.environ["AWS_ENDPOINT_URL"],
            "AmazonEC2ContainerRegistry": ecr.variables["AWS_ENDPOINT_URL"],
            "": store.environ["S3_ENDPOINT_URL"],
        }
        with call_gate(targets) as gate:
            endpoints = dict.fromkeys(("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"), gate.url)
            path = f"{client.directory}{os.pathsep}{os.environ['PATH']}"
            variables = {**ecr.variables, **endpoints, "no_proxy": "127.0.0.1", "PATH": path, "HOME": str(tmp_path)}

            def submitted(kill=None, number=signal.SIGKILL):
                gate.reset(kill, number)
                process = start_command(
                    WORDS, env=environment(**variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
                )
                gate.guard(process.pid)
                return (*process.communicate(timeout=60), process.returncode)

            def emptied():
                jobs.reset()
                ecr.repositories.clear()
                client.will_push("done")
                (tmp_path / "client/asked").write_text("")
                store.clear()

            yield submitted, emptied, gate, jobs, store, ecr, client


def test_killed_submission_is_resumed_to_one_job(aws):
    submitted, emptied, gate, jobs, store, ecr, client = aws
    emptied()
    out, err, status = submitted()
    assert status == 0, err
    calls, objects, (job,) = list(gate.calls), store.objects, jobs.created
    assert {"CreateRepository", "CreateTrainingJob"} <= set(calls)
    assert len([call for call in calls if call.startswith("PUT ")]) == len(objects) == 3
    # After one call is before the next one, except where the client pushes in between.
    pushed = calls.index("CreateRepository") + 1
    every = bool(os.environ.get("SMSPEC_EVERY_CALL"))
    tried = [number for number, call in enumerate(calls) if every or not call.startswith(READING)]
    assert len(tried) >= 5
    for number, is_served in [*((number, True) for number in tried), (pushed, False)]:
        emptied()
        _, err, status = submitted((number, is_served))
        assert status == -9, (calls[number], err)
        assert not store.objects.items() - objects.items()
        assert bool(client.asked("push")) == (number >= pushed)
        again, err, status = submitted()
        assert (again, status) == (out, 0), (calls[number], is_served, err)
        assert jobs.created == [job], calls[number]
        assert store.objects == objects, calls[number]
        assert list(ecr.repositories) == ["small"] and client.asked("push")


def test_interrupted_upload_leaves_no_parts(aws, tmp_path):
    submitted, emptied, gate, jobs, store, *_ = aws
    (tmp_path / "data/a").write_bytes(bytes(9 << 20))
    emptied()
    _, err, status = submitted()
    assert status == 0, err
    first = next(number for number, call in enumerate(gate.calls) if "partNumber=1" in call)
    emptied()
    _, err, status = submitted((first, True), signal.SIGINT)
    assert status == 130, err
    assert store.client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []) == []
    assert "data/a" not in store.objects and jobs.created == []
    assert submitted()[2] == 0
    assert len(store.objects["data/a"]) == 9 << 20
