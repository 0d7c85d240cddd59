"""`smspec submit` killed at its calls to AWS Batch: the next submission ends with one service job."""

import signal
import subprocess

import pytest

from support.forked_command import start_command
from support.servers.call_gate import call_gate
from support.servers.queue_server import queue_server
from support.small_job import write_job
from support.smspec_command import environment
from support.submitted_job import SPEC

pytestmark = pytest.mark.slow


@pytest.fixture
def submission(aws, store, submit_servers, tmp_path):
    write_job(tmp_path, SPEC + "queue: training\n")
    jobs = submit_servers[1]
    with queue_server(jobs) as queue:
        targets = {
            "SageMaker": jobs.environ["AWS_ENDPOINT_URL"],
            "Logs": jobs.environ["AWS_ENDPOINT_URL"],
            "/v1/": queue.environ["AWS_ENDPOINT_URL_BATCH"],
            "": store.environ["S3_ENDPOINT_URL"],
        }
        with call_gate(targets) as gate:
            endpoints = dict.fromkeys(("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_BATCH"), gate.url)
            variables = {**jobs.environ, **endpoints, "no_proxy": "127.0.0.1", "HOME": str(tmp_path)}

            def submitted(kill=None):
                gate.reset(kill, signal.SIGKILL)
                process = start_command(
                    ("submit", "--detach"),
                    env=environment(**variables),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                gate.guard(process.pid)
                return (*process.communicate(timeout=60), process.returncode)

            yield submitted, gate, queue


@pytest.mark.parametrize("returns_the_first", [False, True])
def test_killed_submission_leaves_one_service_job(submission, returns_the_first):
    submitted, gate, queue = submission
    queue.returns_the_first = returns_the_first
    out, err, status = submitted()
    assert status == 0, err
    tried = [number for number, call in enumerate(gate.calls) if call.startswith("POST /v1/")]
    assert any("submitservicejob" in call for call in gate.calls)
    assert len(tried) >= 3
    for number in tried:
        for is_served in (False, True):
            queue.reset()
            queue.returns_the_first = returns_the_first
            _, err, status = submitted((number, is_served))
            assert status == -9, err
            again, err, status = submitted()
            assert (again, status) == (out, 0), (number, is_served, err)
            assert len(queue.submitted) == 1, (number, is_served)
