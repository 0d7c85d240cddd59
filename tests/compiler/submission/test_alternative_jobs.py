"""Alternatives are created one after the other, never two alive, and a submission that breaks goes on where it was."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.submission.client import AwsUnavailable, JobRefused
from smspec.submission.job_creation import AlternativeJobs, Candidate, JobEnded, NoHosts, lacked_hosts
from smspec.submission.job_service import JobService
from support.servers.job_server import job_server_of_process, look
from support.service.api_samples import small_request

TYPES = ("ml.g5.xlarge", "ml.g6.xlarge", "ml.m5.large")
DIGEST = "d" * 64
WAITING = look("InProgress", "Pending")
QUOTA = "ResourceLimitExceeded"
CAPACITY = look("Failed", reason="CapacityError: Unable to provision requested ML compute capacity.")
SPOT = look("Stopped", "MaxWaitTimeExceeded")
BROKEN = look("Failed", began=60, ended=90, billable=30, reason="AlgorithmError: x")
STOPPED = look("Stopped")
STOPPING = look("Stopping")
DONE = look("Completed", began=60, ended=180, billable=120)
LOST = look("Failed", began=60, ended=90, billable=30, reason="CapacityError: lost after an interruption")


class Crash(Exception):
    """The submitting process ends here."""


@pytest.fixture(scope="module")
def aws():
    with job_server_of_process() as running:
        running.service = JobService(None, None)
        yield running


@pytest.fixture
def server(aws):
    aws.reset()
    return aws


def candidates():
    return [
        Candidate(
            request={
                **small_request(),
                "TrainingJobName": f"nightly-{number}123456789",
                "ResourceConfig": {"InstanceType": kind, "InstanceCount": 1, "VolumeSizeInGB": 5},
            },
            digest=DIGEST,
        )
        for number, kind in enumerate(TYPES)
    ]


def submit(aws, *, again=False, looks=None, patience=60.0):
    """Submit and follow; ``looks``: after how many looks at jobs the process ends."""
    left = [looks]
    now = [0.0]

    def sleep(seconds):
        now[0] += seconds

    turns = AlternativeJobs(aws.service, candidates(), again=again, clock=lambda: now[0], sleep=sleep)
    while True:
        job = turns.next().created.job
        for _ in range(50):
            if left[0] is not None:
                if left[0] == 0:
                    raise Crash
                left[0] -= 1
            job = aws.service.describe(job.name)
            if job.is_over:
                break
        assert job.is_over
        if not lacked_hosts(job):
            return job


def types(aws):
    return [request["ResourceConfig"]["InstanceType"] for request in aws.created]


def used(*outcomes):
    return dict(zip(TYPES, outcomes, strict=False))


def assert_sound(aws):
    """No two jobs were alive, none was left, and at most one has cost anything."""
    assert aws.most_alive <= 1
    assert all(aws.seen.get(name, WAITING)["status"] in ("Completed", "Failed", "Stopped") for name in aws.jobs)
    assert sum("began" in looks[-1] for looks in aws.jobs.values()) <= 1


SEQUENCES = {
    "first has hosts": (used([WAITING, DONE]), TYPES[:1], "Completed"),
    "quota at creation": (used(QUOTA, [WAITING, DONE]), TYPES[1:2], "Completed"),
    "capacity error at once": (used([CAPACITY], [DONE]), TYPES[:2], "Completed"),
    "capacity error after waiting": (used([WAITING, WAITING, CAPACITY], [WAITING, DONE]), TYPES[:2], "Completed"),
    "spot wait exceeded": (used([WAITING, STOPPING, SPOT], [DONE]), TYPES[:2], "Completed"),
    "stopping is waited for": (used([STOPPING, STOPPING, CAPACITY], [DONE]), TYPES[:2], "Completed"),
    "capacity, then quota": (used([CAPACITY], QUOTA, [WAITING, DONE]), TYPES[::2], "Completed"),
    "script fails on the second": (used([CAPACITY], [BROKEN]), TYPES[:2], "Failed"),
    "script fails on the first": (used([BROKEN]), TYPES[:1], "Failed"),
    "a person stops the first": (used([WAITING, STOPPING, STOPPED]), TYPES[:1], "Stopped"),
    "capacity is lost after the start": (used([WAITING, LOST]), TYPES[:1], "Failed"),
    "no capacity anywhere": (used([CAPACITY], [CAPACITY], [SPOT]), TYPES, None),
    "no quota anywhere": (used(QUOTA, QUOTA, QUOTA), (), None),
}


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("dropped", [False, True], ids=["answered", "dropped"])
def test_fault_sequence_ends_right(server, name, dropped):
    """With ``dropped``, the connection breaks after each job is created."""
    server.outcomes, created, end = SEQUENCES[name]
    server.dropped = 9 if dropped else 0
    if end is None:
        with pytest.raises(NoHosts):
            submit(server)
    else:
        assert submit(server).status == end
    assert types(server) == list(created)
    assert_sound(server)


@pytest.mark.parametrize("code", ["ThrottlingException", "InternalFailure", "ServiceUnavailable"])
def test_passing_error_does_not_move_on(server, code):
    server.outcomes = used([DONE], [DONE])
    server.faults["CreateTrainingJob"] = [(500 if code != "ThrottlingException" else 400, code)] * 3
    assert submit(server).status == "Completed"
    assert types(server) == [TYPES[0]]


@pytest.mark.parametrize("fault", [(400, "ValidationException"), (400, "AccessDeniedException")])
def test_rejection_does_not_move_on(server, fault):
    server.faults["CreateTrainingJob"] = [fault]
    with pytest.raises((JobRefused, AwsUnavailable)):
        submit(server)
    assert server.created == []


def test_quota_that_a_lost_job_uses_finds_that_job(server):
    """The first request made the job without an answer; the second is rejected, because the first uses the quota."""
    server.outcomes = used([WAITING, DONE], [DONE])
    server.dropped = 1
    server.on_create = lambda: server.faults.update(CreateTrainingJob=[(400, QUOTA)] * 9)
    assert submit(server).status == "Completed"
    assert types(server) == [TYPES[0]]
    assert_sound(server)


def test_crash_between_alternatives_goes_on(server):
    server.outcomes = used([WAITING, WAITING, CAPACITY], [WAITING, WAITING, DONE])
    with pytest.raises(Crash):
        submit(server, looks=0)
    for looks in (0, 1, 0, 0):
        with contextlib.suppress(Crash):
            submit(server, looks=looks)
    assert submit(server).status == "Completed"
    assert types(server) == list(TYPES[:2])
    assert_sound(server)


def test_second_submission_finds_the_alternative(server):
    server.outcomes = used([CAPACITY], [WAITING, DONE])
    first, second = submit(server), submit(server)
    assert (first.name, len(server.created)) == (second.name, 2)


def test_failed_alternative_is_repeated_only_again(server):
    server.outcomes = used([CAPACITY], [BROKEN])
    assert submit(server).status == "Failed"
    with pytest.raises(JobEnded):
        submit(server)
    server.outcomes = used([CAPACITY], [WAITING, DONE])
    assert submit(server, again=True).status == "Completed"
    assert [request["TrainingJobName"][-2:] for request in server.created] == ["89", "89", "-2", "-2"]
    assert server.most_alive == 1


def test_repetition_that_is_alive_is_followed(server):
    """Without --again too: a second alternative next to it would be a second job."""
    server.outcomes = used([CAPACITY], QUOTA, QUOTA)
    with pytest.raises(NoHosts):
        submit(server)
    server.outcomes = used([WAITING, WAITING, DONE], [DONE])
    with pytest.raises(Crash):
        submit(server, again=True, looks=0)
    assert submit(server).name.endswith("-2")
    assert_sound(server)


def test_quota_is_tried_again_by_the_next_submission(server):
    server.outcomes = used(QUOTA, QUOTA, QUOTA)
    with pytest.raises(NoHosts) as none:
        submit(server)
    assert [index for index, _ in none.value.refused] == [0, 1, 2]
    server.outcomes = used([DONE])
    assert submit(server).status == "Completed"


def test_concurrent_submissions_share_one_job(server):
    server.outcomes = used([WAITING, WAITING, WAITING, CAPACITY], [WAITING, WAITING, WAITING, DONE])
    both = [AlternativeJobs(server.service, candidates()) for _ in range(2)]
    assert [turns.next().created.is_new for turns in both] == [True, False]
    while not lacked_hosts(server.service.describe(server.created[0]["TrainingJobName"])):
        pass
    assert [turns.next().created.job.name for turns in both] == [server.created[1]["TrainingJobName"]] * 2
    assert (len(server.created), server.most_alive) == (2, 1)


OUTCOMES = st.sampled_from(
    [QUOTA, (CAPACITY,), (WAITING, CAPACITY), (STOPPING, SPOT), (BROKEN,), (WAITING, DONE), (STOPPED,), (LOST,)]
)


@settings(max_examples=40)
@given(
    outcomes=st.tuples(OUTCOMES, OUTCOMES, OUTCOMES),
    crashes=st.lists(st.integers(0, 4), max_size=3),
    dropped=st.integers(0, 3),
    faults=st.lists(st.sampled_from([(400, "ThrottlingException"), (500, "InternalFailure")]), max_size=2),
)
def test_random_sequences_are_sound(aws, outcomes, crashes, dropped, faults):
    aws.reset()
    aws.outcomes, aws.dropped = used(*outcomes), dropped
    aws.faults["CreateTrainingJob"] = list(faults)
    expected = next((list(each)[-1]["status"] for each in outcomes if each not in _WITHOUT_HOSTS), None)
    for looks in crashes:
        try:
            submit(aws, looks=looks)
        except (Crash, JobEnded, NoHosts, AwsUnavailable):
            continue
    end = end_of(aws)
    assert end == expected
    assert_sound(aws)
    if end != "Completed":
        aws.outcomes = used([WAITING, DONE])
        assert submit(aws, again=True).status == "Completed"
        assert aws.most_alive <= 1


def end_of(aws):
    """Submit as a person does: once more after an error of AWS. Return the status of the job, None without hosts."""
    try:
        return submit(aws).status
    except JobEnded as ended:
        return ended.job.status
    except NoHosts:
        return None
    except AwsUnavailable:
        return end_of(aws)


_WITHOUT_HOSTS = (QUOTA, (CAPACITY,), (WAITING, CAPACITY), (STOPPING, SPOT))
