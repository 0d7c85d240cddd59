"""However the calls of simultaneous submissions interleave, one job of a spec with alternatives stays alive."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.submission.job_creation import AlternativeJobs, Candidate, JobEnded, NoHosts
from smspec.submission.job_service import JobService
from support.examples import at_most
from support.sampled_cases import left_out
from support.servers.job_server import CREATED, job_server_of_process, look
from support.service.api_samples import small_request

TYPES = ("ml.g5.xlarge", "ml.g6.xlarge")
NO_CAPACITY = {"reason": "CapacityError: Unable to provision requested ML compute capacity."}
EVENTS = ("quota", "capacity", "clock")
LONGEST_SECONDS = 30


class Turns:
    """Runs threads one call at a time, in the order that a test draws."""

    def __init__(self):
        self.changed = threading.Condition()
        self.waiting, self.over, self.granted = set(), set(), None

    def take(self, who):
        with self.changed:
            self.waiting.add(who)
            self.changed.notify_all()
            assert self.changed.wait_for(lambda: self.granted == who, LONGEST_SECONDS)
            self.granted = None
            self.waiting.discard(who)

    def leave(self, who):
        with self.changed:
            self.over.add(who)
            self.changed.notify_all()

    def grant(self, who, everyone):
        """Let one call happen, and wait until all threads are before their next call."""
        with self.changed:
            if who in self.over:
                return
            self.granted = who
            self.changed.notify_all()
            assert self.changed.wait_for(lambda: self.is_quiet(everyone), LONGEST_SECONDS)

    def is_quiet(self, everyone):
        return self.granted is None and self.waiting | self.over == set(everyone)


class OrderedService(JobService):
    """A service whose calls wait for their turn."""

    def turn(self, turns, who):
        self.before = lambda: turns.take(who)
        return self

    def describe(self, name, **more):
        self.before()
        return super().describe(name, **more)

    def create(self, request):
        self.before()
        super().create(request)

    def stop(self, name):
        self.before()
        super().stop(name)


@pytest.fixture(scope="module")
def aws():
    with job_server_of_process() as running:
        running.services = [OrderedService(None, None), OrderedService(None, None)]
        yield running


def candidates():
    return [
        Candidate(
            request={
                **small_request(),
                "TrainingJobName": f"nightly-{number}123456789",
                "ResourceConfig": {"InstanceType": kind, "InstanceCount": 1, "VolumeSizeInGB": 5},
            },
            digest="d" * 64,
        )
        for number, kind in enumerate(TYPES)
    ]


class World:
    """What SageMaker does meanwhile: quota comes and goes, jobs get no capacity, clocks of its hosts differ."""

    def __init__(self, server):
        self.server, self.tick, self.is_late = server, 0, False
        server.execute = self.created
        server.on_stop = lambda name: server.jobs.update({name: [look("Stopped")]})

    def created(self, _request):
        self.tick += 1
        time = CREATED + (100 - self.tick if self.is_late else 100 + self.tick)
        return [look("InProgress", "Pending", members={"CreationTime": time})]

    def happens(self, event):
        server, first = self.server, TYPES[0]
        if event == "quota":
            server.outcomes = {} if first in server.outcomes else {first: "ResourceLimitExceeded"}
        elif event == "clock":
            self.is_late = not self.is_late
        else:
            for name in self.alive():
                kind = next(r for r in server.created if r["TrainingJobName"] == name)["ResourceConfig"]["InstanceType"]
                if kind == first:
                    server.jobs[name] = [look("Failed", **NO_CAPACITY)]

    def alive(self):
        return [name for name, looks in self.server.jobs.items() if looks[0]["status"] == "InProgress"]


def submitted(server, order, again):
    """Submit twice at once. Return the job that each goes on to follow, or None, and the names that stay alive."""
    server.reset()
    turns, world, everyone = Turns(), World(server), (0, 1)
    found = [None, None]

    def submit(who):
        try:
            service = server.services[who].turn(turns, who)
            found[who] = AlternativeJobs(service, candidates(), again=again[who]).next().created.job.name
        except (NoHosts, JobEnded) as ended:
            found[who] = type(ended)
        finally:
            turns.leave(who)

    threads = [threading.Thread(target=submit, args=(who,)) for who in everyone]
    for thread in threads:
        thread.start()
    with turns.changed:
        assert turns.changed.wait_for(lambda: turns.is_quiet(everyone), LONGEST_SECONDS)
    for step in order:
        if step in EVENTS:
            world.happens(step)
        else:
            turns.grant(step, everyone)
    world.server.outcomes = {}
    while turns.over != set(everyone):
        for who in everyone:
            turns.grant(who, everyone)
    for thread in threads:
        thread.join(LONGEST_SECONDS)
    return found, world.alive()


@settings(max_examples=at_most(60), deadline=None)
@given(
    st.lists(st.sampled_from(EVENTS) | st.tuples(st.integers(0, 1), st.integers(1, 8)), max_size=10),
    st.tuples(st.booleans(), st.booleans()),
)
def test_one_job_stays_alive(aws, runs, again):
    order = [step for run in runs for step in ([run] if isinstance(run, str) else [run[0]] * run[1])]
    found, alive = submitted(aws, order, again)
    assert len(alive) <= 1, (found, alive)
    assert all(each is not None for each in found)


@pytest.mark.slow
@pytest.mark.parametrize("again", [(False, False), left_out((True, True))])
def test_pause_before_each_call_makes_no_second_job(aws, again):
    """One submission pauses anywhere, and then the other one does, while quota and capacity change."""
    for one in range(9):
        for other in range(1, 9):
            order = ["quota", *[0] * one, "quota", *[1] * other, "capacity"]
            _, alive = submitted(aws, order, again)
            assert len(alive) <= 1, (order, alive)


@pytest.mark.parametrize("late", [[], ["clock"]], ids=["same clock", "different clocks"])
def test_quota_that_comes_back_makes_no_second_job(aws, late):
    """The first sees no job, and lacks quota; then the second creates alternative 1, and the first alternative 2."""
    first, second = "nightly-0123456789", "nightly-1123456789"
    looks = [0, 0, 0]  # at both names, then a creation, which fails
    order = ["quota", *looks, 0, 0, 0, "quota", 1, 1, 1, *late, 0]
    found, alive = submitted(aws, order, (False, False))
    assert {request["TrainingJobName"] for request in aws.created} == {first, second}, (
        "the case is the one that is meant"
    )
    assert alive == [second if late else first]
    assert alive[0] in found and aws.stopped
