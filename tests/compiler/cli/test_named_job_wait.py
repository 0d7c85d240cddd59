"""`stop`, `logs`, and `collect` say what they wait for while SageMaker does not answer."""

import socket

import pytest

from support.small_job import write_job
from support.smspec_command import smspec
from support.submitted_job import SPEC


@pytest.fixture
def silent(monkeypatch, tmp_path):
    """An endpoint that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.getsockname()[1]}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "testing")
        monkeypatch.setenv("AWS_REGION", "us-west-2")
        monkeypatch.setenv("SMSPEC_HTTP_TIMEOUT", "2")
        monkeypatch.chdir(tmp_path)
        write_job(tmp_path, SPEC)
        yield


@pytest.mark.parametrize("what", ["job.yaml", "small-0123456789"])
@pytest.mark.parametrize("command", ["stop", "logs", "collect"])
def test_wait_for_a_job_is_shown(silent, command, what):
    done = smspec(command, what)
    assert done.status == 3, done.err
    assert done.err.startswith("waiting for SageMaker in us-west-2\n") and "no complete response within 2 s" in done.err
