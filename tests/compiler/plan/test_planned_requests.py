"""The request of any valid job is accepted by botocore and the limits of the API."""

from botocore import session, validate
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.plan.request_planning import make_plan
from smspec.service.request_rules import request_findings
from support.service.api_samples import with_the_pinned_model
from support.spec import job_samples

MODEL = session.get_session().get_service_model("sagemaker")
INPUT = MODEL.operation_model("CreateTrainingJob").input_shape
TEXT = st.text(st.characters(categories=["L", "N", "P", "S"], include_characters=" \n\t"), max_size=20)

WORD = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=10)
S3 = WORD.map(lambda word: f"s3://example-bucket/{word}/")
MOST_SECONDS = 2_000_000
SECONDS = st.integers(1, MOST_SECONDS)
SCALAR = st.one_of(st.booleans(), st.integers(), st.floats(), TEXT)


def streamed(channel):
    """Give a channel Pipe mode where only a stream can be what it asks for."""
    needs_a_stream = {channel.get("compression"), channel.get("record_wrapper")} & {"Gzip", "RecordIO"}
    return channel | {"input_mode": "Pipe"} if needs_a_stream else channel


CHANNEL = st.fixed_dictionaries(
    {"s3": S3},
    optional={
        "distribution": st.sampled_from(["FullyReplicated", "ShardedByS3Key"]),
        "input_mode": st.sampled_from(["File", "FastFile", "Pipe"]),
        "content_type": st.text("abc/; ", max_size=20),
        "compression": st.sampled_from(["None", "Gzip"]),
        "record_wrapper": st.sampled_from(["None", "RecordIO"]),
        "shuffle_seed": st.integers(-(2**63), 2**63 - 1),
        "api": st.just({"ContentType": "text/csv"}),
    },
).map(streamed)
DELIVERIES = st.one_of(
    st.fixed_dictionaries(
        {
            "image": st.just({"base": "python:3"}),
            "source": st.sampled_from(["image", "channel", "s3"]).map(lambda way: {"dir": "src/", "delivery": way}),
        }
    ),
    st.fixed_dictionaries(
        {
            "image": st.just(job_samples.IMAGE_URI),
            "source": st.sampled_from(["channel", "s3"]).map(lambda way: {"dir": "src/", "delivery": way}),
        }
    ),
)
JOBS = st.tuples(
    DELIVERIES,
    st.fixed_dictionaries(
        {},
        optional={
            "channels": st.dictionaries(WORD, CHANNEL, max_size=4),
            "input_mode": st.sampled_from(["File", "FastFile", "Pipe"]),
            "distribution": st.sampled_from(["torchrun", {"mpi": {"options": ["-v"]}}, {"smdataparallel": {}}]),
            "hyperparameters": st.dictionaries(WORD, st.one_of(SCALAR, st.lists(SCALAR, max_size=3)), max_size=5),
            "hyperparameter_encoding": st.sampled_from(["json", "json_strings"]),
            "environment": st.dictionaries(WORD.map(lambda word: f"V{word}"), TEXT, max_size=4),
            "stopping": st.fixed_dictionaries({}, optional={"max_runtime": SECONDS}),
            # As long as any of these jobs may run: the service refuses a shorter wait.
            "spot": SECONDS.map(lambda seconds: {"max_wait": MOST_SECONDS + seconds}),
            "retries": st.integers(1, 30),
            "checkpoints": S3,
            "tensorboard": S3,
            "tags": st.dictionaries(WORD, WORD, max_size=5),
            "api": st.sampled_from([{"RemoteDebugConfig": {"EnableRemoteDebug": True}}, {"Tags": None}]),
        },
    ),
).map(lambda parts: parts[0] | parts[1])


def is_writable(changes):
    """JSON, in which these tests write their specs, has no infinities."""
    return "Infinity" not in str(changes) and "inf" not in str(changes) and "nan" not in str(changes)


@with_the_pinned_model
@settings(max_examples=120)
@given(JOBS.filter(is_writable))
def test_request_of_a_valid_job_is_accepted(changes):
    if "smdataparallel" in (changes.get("distribution") or {}):
        changes = {**changes, "hosts": {"instance_type": "ml.p4d.24xlarge", "count": 1}}
    payload = make_plan(job_samples.decoded(job_samples.spec(**changes)), job_samples.build_inputs()).request.payload
    assert not validate.ParamValidator().validate(payload, INPUT).has_errors()
    assert [finding for finding in request_findings(payload) if finding.severity == "error"] == []


@settings(max_examples=40)
@given(JOBS.filter(is_writable), st.randoms())
def test_key_order_does_not_change_the_job_name(changes, random):
    written = list(job_samples.spec(**changes).items())
    names = []
    for _ in range(2):
        random.shuffle(written)
        plan = make_plan(job_samples.decoded(dict(written)), job_samples.build_inputs())
        names.append((plan.request.payload["TrainingJobName"], plan.image and plan.image.uri))
    assert names[0] == names[1]
