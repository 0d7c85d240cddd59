"""Downloads of a result that has many objects."""

import os
import subprocess
import sys
import threading
from datetime import datetime, timezone

import pytest

from smspec.collection.s3_result import s3_result
from smspec.local.s3.fetching import CONNECTIONS
from smspec.submission.s3_service import RegionalS3
from smspec.submission.training_job import training_job
from support.servers.hostile_s3 import BUCKET, CREDENTIALS, HostileS3, error, is_list
from support.servers.hostile_server import hostile_server, response
from support.servers.job_server import COMPLETED, job_server
from support.smspec_command import environment, smspec_process

JOB = training_job(
    {
        "TrainingJobName": "nightly",
        "TrainingJobArn": "arn:aws:sagemaker:us-west-2:123456789012:training-job/nightly",
        "TrainingJobStatus": "Completed",
        "CreationTime": datetime(2026, 1, 1, tzinfo=timezone.utc),
        "OutputDataConfig": {"S3OutputPath": f"s3://{BUCKET}/out"},
        "ResourceConfig": {"InstanceCount": 1},
    }
)


@pytest.fixture
def s3(monkeypatch):
    with hostile_server() as server:
        endpoints = dict.fromkeys(("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_SAGEMAKER"), f"http://{server.host}")
        for name, value in {**CREDENTIALS, **endpoints}.items():
            monkeypatch.setenv(name, value)
        names = [f"out/nightly/output/model/{number:04}" for number in range(100)]
        yield HostileS3(server, {name: name.encode() * 10 for name in names})


def downloaded(s3: HostileS3, order: slice) -> dict[str, bytes]:
    result = s3_result(JOB, RegionalS3(None, "us-west-2"), None)
    return {file.name: b"".join(file.blocks()) for file in result.files[order]}


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -40)], ids=["in order", "backwards"])
def test_objects_have_their_own_content(s3, order):
    found = downloaded(s3, order)
    expected = {name.removeprefix("out/nightly/output/"): content for name, content in s3.objects.items()}
    names = sorted(expected)[order]
    assert found == {name: expected[name] for name in names}


@pytest.mark.parametrize("is_closed", [True, False])
def test_objects_can_be_read_after_an_abandoned_one(s3, is_closed):
    first, second, third, *_ = s3_result(JOB, RegionalS3(None, "us-west-2"), None).files
    begun = iter(first.blocks())
    next(begun)
    if is_closed:
        begun.close()
    found = [b"".join(second.blocks())]
    begun.close()
    found.append(b"".join(third.blocks()))
    assert found == list(s3.objects.values())[1:3]


def test_throttled_requests_ahead_do_not_keep_a_failed_process(s3, tmp_path):
    """One object is denied, while S3 throttles what was asked about all others."""
    denied = next(iter(s3.objects))

    def answer(request):
        if request.method == "HEAD":
            return [error("SlowDown", "503 Slow Down")]
        return [error("AccessDenied", "403 Forbidden")] if request.target.endswith(denied) else None

    s3.override = answer
    words = (
        "from test_downloads import JOB, RegionalS3, s3_result\n"
        "result = s3_result(JOB, RegionalS3(None, 'us-west-2', budget=0), None)\n"
        "b''.join(result.files[0].blocks())\n"
    )
    where = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", words], env=where, capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 1 and "cannot use" in done.stderr.splitlines()[-1], done.stderr


def test_silent_requests_do_not_keep_a_failed_command(s3, tmp_path):
    """One object is shorter than listed, and S3 answers nothing about the others: the first message is the last."""
    short = next(iter(s3.objects))

    def answer(request):
        if is_list(request) or request.target.endswith(short):
            return [response(b"x")] if request.method == "GET" and not is_list(request) else None
        return [600.0]

    s3.override = answer
    with job_server() as jobs:
        jobs.jobs["nightly"] = [{**COMPLETED, "members": {"OutputDataConfig": {"S3OutputPath": f"s3://{BUCKET}/out"}}}]
        where = environment(AWS_ENDPOINT_URL_SAGEMAKER=jobs.environ["AWS_ENDPOINT_URL"], SMSPEC_HTTP_TIMEOUT="600")
        done = smspec_process("collect", "nightly", cwd=tmp_path, env=where, timeout=120)
    assert done.status == 3 and "with 1 bytes, but listed" in done.err, done.err
    assert not list(tmp_path.iterdir())


def test_later_objects_are_requested_before_the_first_arrives(s3):
    """One after the other, 5,000 small objects take ten thousand times the way to S3 and back."""
    both, asked = threading.Barrier(CONNECTIONS, timeout=30), []

    def wait(request):
        if not is_list(request) and len(asked) < CONNECTIONS:
            asked.append(request.target)
            both.wait()

    s3.override = wait
    assert len(downloaded(s3, slice(None))) == 100
