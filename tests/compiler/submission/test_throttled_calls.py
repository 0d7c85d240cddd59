"""Calls for jobs that exist, while AWS throttles them or fails: repeated for a while, except what AWS denies."""

import pytest

from smspec.submission.client import AccessDenied, AwsUnavailable
from smspec.submission.following import JobLog, Trouble, follow
from smspec.submission.job_service import JobService
from support.servers.job_server import COMPLETED, job_server
from support.service.api_samples import small_request

NAME = "nightly"
STREAM = f"{NAME}/algo-1-1700000000"
CALLS = {
    "DescribeTrainingJob": lambda service, job: service.describe(NAME),
    "ListTags": lambda service, job: service.tags(job),
    "AddTags": lambda service, job: service.add_tags(job, {"team": "ads"}),
    "StopTrainingJob": lambda service, job: service.stop(NAME),
    "DescribeLogStreams": lambda service, job: service.streams(NAME),
    "GetLogEvents": lambda service, job: service.events(STREAM, None, None),
}
TRANSIENT = [(400, "ThrottlingException"), (500, "InternalFailure"), (503, "ServiceUnavailable")]
ATTEMPTS_OF_BOTOCORE = 5


@pytest.fixture(scope="module")
def server():
    with job_server() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environ.items():
            patch.setenv(name, value)
        yield running


@pytest.fixture
def service(server):
    server.reset()
    service = JobService(None, None)
    service.create({**small_request(), "TrainingJobName": NAME, "Tags": []})
    server.jobs[NAME] = [COMPLETED]
    server.log("algo-1", 61, "a")
    return service


@pytest.fixture
def pauses(monkeypatch):
    found = []
    monkeypatch.setattr("smspec.submission.client.time.sleep", found.append)
    return found


@pytest.mark.parametrize("fault", TRANSIENT, ids=lambda fault: fault[1])
@pytest.mark.parametrize("operation", CALLS)
def test_throttled_call_is_repeated(server, service, operation, fault):
    job = service.describe(NAME)
    server.faults[operation] = [fault] * (2 * ATTEMPTS_OF_BOTOCORE)
    CALLS[operation](service, job)
    assert not server.faults[operation]


@pytest.mark.parametrize("operation", CALLS)
def test_endless_throttling_ends_within_its_budget(server, service, pauses, operation):
    job = service.describe(NAME)
    server.faults[operation] = [(400, "ThrottlingException")] * 1000
    with pytest.raises(AwsUnavailable, match="ThrottlingException"):
        CALLS[operation](service, job)
    assert 30 < sum(pauses) <= 60


@pytest.mark.parametrize("operation", CALLS)
def test_denied_call_is_not_repeated(server, service, pauses, operation):
    job = service.describe(NAME)
    before = server.asked[operation]
    server.faults[operation] = [(400, "AccessDeniedException")] * 1000
    with pytest.raises(AccessDenied, match=operation):
        CALLS[operation](service, job)
    assert (server.asked[operation] - before, pauses) == (1, [])


@pytest.mark.parametrize("operation", ["DescribeTrainingJob", "DescribeLogStreams", "GetLogEvents"])
def test_follower_shows_throttling_at_once(server, service, pauses, operation):
    server.faults[operation] = [(400, "ThrottlingException")] * ATTEMPTS_OF_BOTOCORE
    found = [*follow(service, JobLog(service, NAME), NAME, interval=0, sleep=lambda _seconds: None)]
    assert sum(isinstance(each, Trouble) for each in found) == 1
    assert pauses == []
