"""One request makes one job, whatever breaks: dropped connections, throttling, a name in use."""

import contextlib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.submission.client import AccessDenied, AwsUnavailable, JobRefused
from smspec.submission.job_creation import JobEnded, create_job
from smspec.submission.job_service import JobService, Throttled
from smspec.submission.ownership import differences, require_own
from support.servers.job_server import job_server_of_process, look
from support.service.api_samples import small_request, with_the_pinned_model

NAME = "nightly-0123456789"
DIGEST = "d" * 64


@pytest.fixture(scope="module")
def aws():
    with job_server_of_process() as running:
        running.service = JobService(None, None)
        yield running


@pytest.fixture
def server(aws):
    aws.reset()
    return aws


class Time:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now = 0.0

    def sleep(self, seconds):
        self.now += seconds


def request():
    return {**small_request(), "TrainingJobName": NAME, "Tags": [{"Key": "team", "Value": "ads"}]}


def create(aws, *, derived=True, **options):
    time = options.pop("time", None) or Time()
    return create_job(
        aws.service,
        request(),
        options.pop("digest", DIGEST),
        name_is_derived=derived,
        clock=lambda: time.now,
        sleep=time.sleep,
        **options,
    )


def test_job_is_created_once_with_its_digest_as_a_tag(server):
    first, second = create(server), create(server)
    assert (first.is_new, second.is_new) == (True, False)
    assert [job["TrainingJobName"] for job in server.created] == [NAME]
    assert server.created[0]["Tags"] == [{"Key": "team", "Value": "ads"}, {"Key": "smspec:digest", "Value": DIGEST}]


def test_dropped_connections_end_with_exactly_one_job(server):
    """AWS has accepted the request, and nobody hears of it."""
    for _ in range(100):
        server.jobs.clear()
        server.created.clear()
        server.dropped = 1
        assert create(server).job.name == NAME
        assert len(server.created) == 1


def test_fault_after_the_creation_names_the_job(server):
    server.on_create = lambda: server.faults.update(DescribeTrainingJob=[(400, "ExpiredTokenException")])
    with pytest.raises(AwsUnavailable, match=f"accepted the job `{NAME}`, but its status is unknown: .* have expired"):
        create(server)
    assert not create(server).is_new
    assert len(server.created) == 1


@pytest.mark.parametrize("code", ["ThrottlingException", "TooManyRequestsException"])
def test_throttling_is_waited_for(server, code):
    server.faults["CreateTrainingJob"] = [(400, code)] * 12
    assert create(server).is_new
    server.reset()
    server.faults["CreateTrainingJob"] = [(400, code)] * 10_000
    with pytest.raises(Throttled):
        create(server)


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        ((400, "ValidationException"), JobRefused),
        ((400, "ResourceLimitExceeded"), JobRefused),
    ],
)
def test_rejected_jobs_are_not_tried_again(server, fault, raised):
    server.faults["CreateTrainingJob"] = [fault]
    with pytest.raises(raised, match=NAME):
        create(server)
    assert server.created == []


def test_denied_creation_names_the_action(server):
    server.faults["CreateTrainingJob"] = [(400, "AccessDeniedException")]
    with pytest.raises(AccessDenied, match="AWS denies `sagemaker:CreateTrainingJob`"):
        create(server)
    assert server.created == []


@pytest.mark.parametrize("status", ["Failed", "Stopped"])
def test_ended_job_is_named_and_again_takes_the_next_name(server, status):
    server.put(request(), look(status))
    with pytest.raises(JobEnded, match=f"`{NAME}` is {status}"):
        create(server)
    assert create(server, again=True).job.name == f"{NAME}-2"
    assert create(server, again=True).is_new is False  # the second one is in progress
    server.jobs[f"{NAME}-2"] = [look(status)]
    assert create(server, again=True).job.name == f"{NAME}-3"


@pytest.mark.parametrize("status", ["Completed", "InProgress", "Stopping"])
def test_job_that_goes_on_or_is_done_is_not_repeated(server, status):
    server.put(request(), look(status))
    for again in (False, True):
        assert create(server, again=again).is_new is False
    assert server.created == []


def test_job_that_is_being_deleted_is_awaited(server):
    """Its name is free again when it is gone; it is neither over, nor the job of the request."""
    server.put(request(), look("Deleting"))
    with pytest.raises(AwsUnavailable, match=f"still deleting the job `{NAME}`"):
        create(server)
    assert server.created == []

    class Deletion(Time):
        def sleep(self, seconds):
            super().sleep(seconds)
            server.jobs.pop(NAME, None)

    assert create(server, time=Deletion()).is_new
    assert len(server.created) == 1


@pytest.mark.parametrize("derived", [True, False])
def test_name_that_a_different_job_takes_meanwhile_is_left(server, derived):
    """It appears between the question whether it exists and the creation."""
    other = {**request(), "RoleArn": "arn:aws:iam::111122223333:role/Other"}
    original = server.create

    def create_later(sent):
        server.put(other, look("InProgress"))
        return original(sent)

    server.create = create_later
    try:
        with pytest.raises(JobRefused, match="a different job is named"):
            create(server, derived=derived)
    finally:
        server.create = original
    assert server.created == []


def test_chosen_name_of_a_different_job_is_an_error(server):
    create(server, derived=False)
    assert create(server, derived=False).is_new is False
    with pytest.raises(JobRefused, match="a different job is named"):
        create(server, derived=False, digest="e" * 64)


def test_temporary_rejections_of_a_new_role_are_waited_for(server, monkeypatch):
    answers = ["Could not assume role arn:aws:iam::123456789012:role/new", "Access denied for repository: x"]
    original = server.create

    def create_later(request):
        if answers:
            server.refuse(400, "ValidationException", answers.pop())
        return original(request)

    monkeypatch.setattr(server, "create", create_later)
    assert create(server).is_new


@given(
    faults=st.lists(st.sampled_from([(400, "ThrottlingException"), (500, "InternalFailure"), (503, "x")]), max_size=3),
    dropped=st.integers(0, 2),
    seed=st.integers(0, 9),
)
@settings(deadline=None, max_examples=15)
def test_any_sequence_of_faults_ends_with_at_most_one_job(aws, faults, dropped, seed):
    aws.reset()
    random.seed(seed)
    aws.faults["CreateTrainingJob"], aws.dropped = list(faults), dropped
    try:
        assert create(aws).job.name == NAME
    except AwsUnavailable:
        aws.faults.clear()
    assert create(aws).job.name == NAME
    assert len(aws.created) == 1


@with_the_pinned_model
def test_serverless_job_needs_the_tag_of_its_spec(server):
    sent = small_request() | {"ServerlessJobConfig": {"BaseModelArn": "x", "JobType": "FineTuning"}}
    service = server.service
    server.put(sent, look("InProgress"), tags=["smspec:digest=theirs"])
    with pytest.raises(JobRefused, match="its tag"):
        require_own(service, service.describe(sent["TrainingJobName"]), sent, "mine", name_is_derived=True)
    server.put(sent, look("InProgress"), tags=["smspec:digest=mine"])
    require_own(service, service.describe(sent["TrainingJobName"]), sent, "mine", name_is_derived=True)
    for name in ("VolumeKmsKeyId", "TrainingPlanArn"):
        theirs = {**sent, "ResourceConfig": {**sent.get("ResourceConfig", {}), name: "foreign"}}
        server.put(theirs, look("InProgress"), tags=["smspec:digest=mine"])
        with pytest.raises(JobRefused, match=rf"`ResourceConfig\.{name}` differs"):
            require_own(service, service.describe(sent["TrainingJobName"]), sent, "mine", name_is_derived=True)


METRICS = [{"Name": "loss", "Regex": "loss=(.*)"}, {"Name": "foreign", "Regex": ".*"}]
SENT = small_request() | {"Environment": {"MODE": "fast"}}
ALGORITHM = SENT["AlgorithmSpecification"]
OF_AWS = {**ALGORITHM, "TrainingImage": "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:1.7-1"}


@pytest.mark.parametrize(
    ("members", "needs_tag", "is_own"),
    [
        pytest.param({}, False, True, id="equal"),
        pytest.param({"Environment": {}}, True, True, id="member-omitted"),
        pytest.param({"AlgorithmSpecification": {**ALGORITHM, "MetricDefinitions": METRICS}}, True, True, id="metrics"),
        pytest.param({"Environment": {"MODE": "x"}}, True, False, id="other-value"),
        pytest.param({"HyperParameters": {"k": "1"}}, True, False, id="member-added"),
    ],
)
def test_emulator_omits_members_and_adds_metrics(server, members, needs_tag, is_own):
    """What an emulator changes is own only with the tag of the spec; anything else is foreign with it."""
    for tag, is_accepted in ((f"smspec:digest={DIGEST}", is_own), ("smspec:digest=theirs", is_own and not needs_tag)):
        server.put({**SENT, **members}, look("InProgress"), tags=[tag])
        job = server.service.describe(SENT["TrainingJobName"])
        assert not server.service.is_in_aws and ("Environment" in job.answer) is (members != {"Environment": {}})
        with contextlib.nullcontext() if is_accepted else pytest.raises(JobRefused):
            require_own(server.service, job, SENT, DIGEST, name_is_derived=True)


@pytest.mark.parametrize(("index", "is_own"), [(0, True), (1, False)], ids=["added", "instead"])
def test_metrics_of_the_spec_are_compared_in_images_of_aws(index, is_own):
    """SageMaker adds metrics of its own there, which no public table lists: only those of the spec are compared."""
    sent = SENT | {"AlgorithmSpecification": {**OF_AWS, "MetricDefinitions": METRICS[:1]}}
    there = SENT | {"AlgorithmSpecification": {**OF_AWS, "MetricDefinitions": METRICS[index:]}}
    assert (not [*differences(sent, there)]) is is_own


def test_members_that_botocore_lacks_are_sent_and_compared(server):
    """An older botocore lacks members of the API; smspec has its own model, to which a repository adds members."""
    hosts = {**request()["ResourceConfig"], "MemberOfNextYear": {"Depth": 2, "Names": ["é"]}}
    channels = [
        {
            "ChannelName": "train",
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://b/", "Newer": True}},
        }
    ]
    newer = {**request(), "ResourceConfig": hosts, "InputDataConfig": channels, "NewThing": ["a", {"b": 1}]}
    server.service.create(newer)
    assert server.created == [newer]
    shown = server.service.describe(NAME).answer
    assert list(differences(newer, shown)) == []
    assert list(differences({**newer, "NewThing": ["b"]}, shown)) == ["NewThing"]
    server.service.create(request() | {"TrainingJobName": "weekly"})
    assert server.created[1:] == [request() | {"TrainingJobName": "weekly"}]


def test_newer_members_do_not_hide_a_wrong_type(server):
    with pytest.raises(JobRefused, match="Invalid type for parameter RoleArn"):
        server.service.create({**request(), "RoleArn": 7, "NewThing": 1})
    assert server.created == []
