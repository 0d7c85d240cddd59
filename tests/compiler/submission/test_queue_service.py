"""A request is one service job of its queue: whatever is dropped, throttled, or killed, and who else submits it."""

import json
import threading

import botocore.session
import pytest

from smspec.cli.job_follower import end_lines, job_record
from smspec.service.job_costs import PriceBook
from smspec.service.request import tagged
from smspec.spec.model import Queue
from smspec.submission.client import AwsUnavailable, JobRefused
from smspec.submission.following import LogMetrics
from smspec.submission.job_creation import JobEnded, create_job
from smspec.submission.queue_service import QueueService, found_in_queues
from support.servers.job_server import COMPLETED, REGION, job_server_of_process, look
from support.servers.queue_server import queue_server
from support.service.api_samples import small_request

DIGEST = "d" * 64
REQUEST = {**small_request(), "TrainingJobName": "small-0123456789"}
SETTINGS = Queue(name="training", attempts=2)
POSITIONS = range(4)


class Killed(BaseException):
    """The process has ended at a call."""


class Gate:
    """A client of AWS Batch that a kill interrupts: at a call of its owner, before or after AWS has got it."""

    def __init__(self, client, at, *, is_served):
        self.client, self.at, self.is_served, self.calls = client, at, is_served, 0

    def __getattr__(self, name):
        call = getattr(self.client, name)
        if not callable(call):
            return call

        def gated(**request):
            number = self.calls
            self.calls += 1
            if number == self.at and not self.is_served:
                raise Killed
            answer = call(**request)
            if number == self.at:
                raise Killed
            return answer

        return gated


@pytest.fixture(scope="module")
def servers():
    with job_server_of_process() as jobs, queue_server(jobs) as queue, pytest.MonkeyPatch.context() as patch:
        for name, value in queue.environ.items():
            patch.setenv(name, value)
        yield jobs, queue


@pytest.fixture
def queue(servers):
    jobs, queue = servers
    jobs.reset()
    queue.reset()
    jobs.first_looks = [look("InProgress", "Training", began=60), COMPLETED]
    return queue


def service():
    return QueueService(None, REGION, SETTINGS)


def created(one, **options):
    return create_job(one, REQUEST, DIGEST, name_is_derived=True, sleep=lambda _seconds: None, **options)


@pytest.mark.parametrize("returns_the_first", [False, True])
@pytest.mark.parametrize("unlisted", [0, 1, 3])
@pytest.mark.parametrize("is_served", [False, True])
@pytest.mark.parametrize("at", POSITIONS)
@pytest.mark.parametrize("dropped", [0, 1])
def test_killed_submission_ends_in_one_job(queue, returns_the_first, unlisted, is_served, at, dropped):
    """96 submissions: killed at each of their calls, some after a response was dropped."""
    queue.returns_the_first, queue.unlisted, queue.dropped = returns_the_first, unlisted, dropped
    first = service()
    first._batch = Gate(first._batch, at, is_served=is_served)
    try:
        created(first)
    except Killed:
        pass
    found = created(service())
    assert len(queue.submitted) == len(queue.jobs) == 1
    assert found.job.name == REQUEST["TrainingJobName"]
    assert found.job.queued.tags["smspec:digest"] == DIGEST


@pytest.mark.parametrize("code", ["TooManyRequestsException", "ThrottlingException"])
@pytest.mark.parametrize("operation", ["SubmitServiceJob", "ListServiceJobs", "DescribeServiceJob"])
def test_throttled_call_is_repeated(queue, operation, code):
    queue.faults[operation] = [(429, code)]
    assert created(service()).is_new
    assert len(queue.submitted) == 1


@pytest.mark.parametrize("returns_the_first", [False, True])
def test_simultaneous_submissions_make_one_job(queue, returns_the_first):
    queue.returns_the_first = returns_the_first
    start, found = threading.Barrier(4), []

    def submit():
        one = service()
        start.wait(10)
        found.append(created(one).job.queued.arn)

    threads = [threading.Thread(target=submit) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(queue.submitted) == 1
    assert len(found) == 4 and len(set(found)) == 1


def test_failed_job_is_repeated_under_the_next_name(queue):
    queue.plan = ("FAILED",)
    with pytest.raises(JobEnded):
        created(service())
        created(service())
    queue.plan = ("RUNNABLE",)
    assert created(service(), again=True).job.name == f"{REQUEST['TrainingJobName']}-2"
    assert created(service(), again=True).job.name == f"{REQUEST['TrainingJobName']}-2"
    assert len(queue.submitted) == 2


def test_rejected_request_is_refused(queue):
    with pytest.raises(JobRefused, match="does not exist"):
        create_job(
            QueueService(None, REGION, Queue(name="other")), REQUEST, DIGEST, name_is_derived=True, sleep=lambda _: None
        )


def test_accepted_job_may_not_be_described_yet(queue):
    queue.faults["DescribeServiceJob"] = [(400, "ClientException")] * 2
    found = created(service())
    assert (found.is_new, found.job.name) == (True, REQUEST["TrainingJobName"])
    assert len(queue.submitted) == 1


def test_denied_place_does_not_hide_the_status(queue):
    queue.plan = ("RUNNABLE",)
    created(service())
    queue.faults["GetJobQueueSnapshot"] = [(403, "AccessDeniedException")]
    job = service().describe(REQUEST["TrainingJobName"])
    assert (job.queued.status, job.queued.place) == ("RUNNABLE", None)
    assert job.queued.where == "in the queue `training`"


@pytest.mark.parametrize(
    ("plan", "status", "secondary"),
    [
        (("SUBMITTED",), "InProgress", "SUBMITTED"),
        (("SCHEDULED",), "InProgress", "SCHEDULED"),
        (("RUNNABLE", "START"), "InProgress", "Training"),
        (("START", "RETRY"), "InProgress", "RUNNABLE"),
        (("START", "RETRY", "START"), "InProgress", "Training"),
        (("START", "FAILED"), "Failed", "Failed"),
        (("FAILED",), "Failed", "Failed"),
    ],
)
def test_status_is_that_of_the_service_job(servers, queue, plan, status, secondary):
    servers[0].first_looks = [look("InProgress", "Training", began=60)]
    queue.plan = plan
    one = service()
    one.create(tagged(REQUEST, DIGEST))
    for _ in plan:
        job = one.describe(REQUEST["TrainingJobName"])
    assert (job.status, job.secondary) == (status, secondary)
    assert [each.start for each in job.transitions] == sorted(each.start for each in job.transitions)


def test_terminated_job_is_stopped(queue):
    queue.plan = ("RUNNABLE",)
    one = service()
    one.create(tagged(REQUEST, DIGEST))
    one.stop(REQUEST["TrainingJobName"])
    assert one.describe(REQUEST["TrainingJobName"]).status == "Stopped"


def test_lists_have_an_end(queue):
    for number in range(5):
        request = {**REQUEST, "TrainingJobName": f"small-012345678{number}"}
        service().create(tagged(request, DIGEST))
    names = [each.name for each in service().named("small-")]
    assert names == [f"small-012345678{number}" for number in (4, 3, 2, 1, 0)]
    assert [each.name for each in service().named("other-")] == []


def test_newest_of_two_queues_is_found(queue):
    queue.add_queue("other")
    service().create(tagged(REQUEST, DIGEST))
    QueueService(None, REGION, Queue(name="other")).create(tagged(REQUEST, DIGEST))
    found, job = found_in_queues(service(), REQUEST["TrainingJobName"])
    assert (found.queue.name, job.queued.queue) == ("other", "other")
    assert found_in_queues(service(), "unknown") is None


def test_response_about_a_different_job_is_a_fault(queue, monkeypatch):
    one = service()
    one.create(tagged(REQUEST, DIGEST))
    shown = queue.shown
    monkeypatch.setattr(queue, "shown", lambda job: {**shown(job), "jobId": "other"})
    with pytest.raises(AwsUnavailable, match="does not describe"):
        one.describe(REQUEST["TrainingJobName"])


def test_payload_of_another_form_is_a_different_job(queue):
    one = service()
    one.create(tagged(REQUEST, DIGEST))
    for job in queue.jobs.values():
        job["serviceRequestPayload"] = "not JSON"
    with pytest.raises(JobRefused, match="a different job is named"):
        created(service())


@pytest.mark.parametrize("odd", [None, 3, "x", [], [3], {"InstanceGroups": [3]}, {"InstanceCount": "z"}], ids=repr)
@pytest.mark.parametrize(
    "member", ["AlgorithmSpecification", "FinalMetricDataList", "ModelArtifacts", "OutputDataConfig", "ResourceConfig"]
)
def test_payload_that_no_training_job_has_is_shown(queue, member, odd):
    one = service()
    one.create(tagged(REQUEST, DIGEST))
    (job,) = queue.jobs.values()
    job.update(serviceRequestPayload=json.dumps({**REQUEST, "StoppingCondition": odd, member: odd}), status="FAILED")
    shown = one.describe(REQUEST["TrainingJobName"])
    assert (shown.status, shown.model, shown.limit) == ("Failed", "", None)
    assert job_record(shown)["queue"]["status"] == "FAILED"
    assert isinstance(shown.hosts, int) and isinstance(shown.instances, str)
    assert next(end_lines(shown, PriceBook())) == f"{shown.name}: Failed"
    has_output = member != "OutputDataConfig"
    assert shown.result_prefix == (f"s3://example-models/sample/{shown.name}/output/" if has_output else "")
    assert LogMetrics(shown).values == {}


def test_older_botocore_is_named(queue, tmp_path, monkeypatch):
    """Its model of AWS Batch has no service jobs, so it has submitted none either."""
    model = botocore.session.get_session().get_component("data_loader").load_service_model("batch", "service-2")
    kept = {name: one for name, one in model["operations"].items() if "ServiceJob" not in name}
    (tmp_path / "batch/2016-08-10").mkdir(parents=True)
    (tmp_path / "batch/2016-08-10/service-2.json").write_text(json.dumps({**model, "operations": kept}))
    made = service()
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
    with pytest.raises(AwsUnavailable, match="boto3 does not know the service jobs of the queue `training`; install"):
        service()
    assert found_in_queues(made, REQUEST["TrainingJobName"]) is None
    assert queue.submitted == []
