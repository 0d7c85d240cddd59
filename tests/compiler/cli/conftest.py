"""SageMaker and S3 for the tests of `smspec submit`."""

import types

import pytest

from support.servers.aws_server import BUCKET, s3_server
from support.servers.job_server import COMPLETED, job_server, look
from support.small_job import write_job
from support.submitted_job import SPEC


@pytest.fixture(scope="module")
def submit_servers():
    with s3_server() as store, job_server() as jobs, pytest.MonkeyPatch.context() as patch:
        for name, value in {**jobs.environ, "AWS_ENDPOINT_URL_S3": store.environ["S3_ENDPOINT_URL"]}.items():
            patch.setenv(name, value)
        patch.setattr("smspec.submission.following.INTERVAL_SECONDS", 0)
        patch.setattr("smspec.submission.persistence.time", types.SimpleNamespace(sleep=lambda seconds: None))
        yield store, jobs


@pytest.fixture
def store(submit_servers):
    store, _ = submit_servers
    for key in store.objects:
        store.client.delete_object(Bucket=BUCKET, Key=key)
    store.put("data/part-0.csv", b"1,2\n")
    return store


@pytest.fixture
def aws(submit_servers, store, monkeypatch, tmp_path):
    _, jobs = submit_servers
    jobs.reset()
    jobs.first_looks = [look("InProgress", "Starting"), COMPLETED]
    monkeypatch.chdir(tmp_path)
    write_job(tmp_path, SPEC)
    return jobs
