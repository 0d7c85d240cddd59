"""``smspec import NAME`` and ECR credentials with malformed responses."""

import json
import time

import pytest

from support.servers.hostile_s3 import CREDENTIALS
from support.servers.hostile_server import chunked, dripped, hostile_server, response
from support.service.api_samples import small_request
from support.small_job import BUILT, READY, write_job
from support.smspec_command import smspec

pytestmark = pytest.mark.slow

DEADLINE = 1.0
ARN = "arn:aws:sagemaker:us-west-2:111122223333:training-job/nightly"
JOB = {**small_request(), "TrainingJobName": "nightly", "TrainingJobArn": ARN, "TrainingJobStatus": "Completed"}
JSON = {"Content-Type": "application/x-amz-json-1.1"}


def json_response(content, status="200 OK", **headers):
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    named = {**JSON, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return response(body, status=status, headers=named)


def but(**members):
    return json_response({**JOB, **members})


def without(*names):
    return json_response({name: value for name, value in JOB.items() if name not in names})


BROKEN = {
    "nothing": b"",
    "no HTTP": b"QUIT\r\n",
    "a status that is no number": b"HTTP/1.1 \xb2\xb0\xb0 OK\r\n\r\n",
    "cut": json_response(JOB)[:-5],
    "half": json_response(json.dumps(JOB).encode()[:-20]),
    "empty": json_response(b""),
    "a login page": response(b"<!DOCTYPE html><html><br></html>", headers={"Content-Type": "text/html"}),
    "a login page that is XML": json_response(b"<html/>"),
    "a list": json_response([JOB]),
    "a text": json_response(b'"nightly"'),
    "null": json_response(b"null"),
    "an empty object": json_response({}),
    "deep": json_response(b'{"HyperParameters": ' + b'{"a":' * 5000 + b"1" + b"}" * 5001),
    "deep lists": json_response(b"[" * 100_000),
    "a number of 5,000 digits": json_response(b'{"CreationTime": ' + b"9" * 5000 + b"}"),
    "a member twice": json_response(b'{"TrainingJobName": "a", "TrainingJobName": "b"}'),
    "NaN": json_response(b'{"CreationTime": NaN}'),
    "no UTF-8": json_response(b'{"TrainingJobName": "\xff"}'),
    "UTF-16": json_response(json.dumps(JOB).encode("utf-16")),
    "60 MB": lambda: json_response(b'{"a": "' + b"x" * 60_000_000 + b'"}'),
    "60 MB in chunks": lambda: json_response(
        chunked(*[b"x" * 1_000_000] * 60), Content_Length=None, Transfer_Encoding="chunked"
    ),
    "compressed": json_response(JOB, Content_Encoding="gzip"),
    "no length": json_response(JOB, Content_Length=None),
    "another job": but(TrainingJobName="weekly"),
    "no name": without("TrainingJobName"),
    "a number as name": but(TrainingJobName=5),
    "no ARN": without("TrainingJobArn"),
    "a list as ARN": but(TrainingJobArn=[ARN]),
    "a time of another world": but(CreationTime="yesterday"),
    "a list as time": but(CreationTime=[]),
    **{
        f"the time {time}": but(CreationTime=time)
        for time in (
            *(
                1e300,
                -1e300,
                10**17,
                -(10**17),
                10**400,
                253402300799,
                -62135596800,
                "NaN",
                "Infinity",
                "-Infinity",
                "",
            ),
            *("9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00", "99999-01-01T00:00:00Z"),
        )
    },
    **{f"a count of {count}": but(BillableTimeInSeconds=count) for count in (10**30, 1 << 31, -1, -(10**30))},
    "no hosts": but(ResourceConfig={"InstanceCount": -2, "InstanceType": "ml.m5.large"}),
    "a run of the future": but(StoppingCondition={"MaxRuntimeInSeconds": 10**30}),
    "a number as role": but(RoleArn=5),
    "a list as role": but(RoleArn=[]),
    "a truth as a count": but(ResourceConfig={"InstanceCount": True}),
    "a text as a size": but(ResourceConfig={"VolumeSizeInGB": "x"}),
    "numbers in a map": but(HyperParameters={"lr": 5}),
    "a list in a map": but(HyperParameters={"lr": []}),
    "text as a structure": but(ResourceConfig="ml.m5.large"),
    "a list as a structure": but(ResourceConfig=[]),
    "an object as a list": but(InputDataConfig={}),
    "texts as a list": but(InputDataConfig=["train"]),
    "a number as a list": but(InputDataConfig=7),
    "a list as a map": but(HyperParameters=["lr"]),
    "a text as a map": but(Environment="A=B"),
    "a redirect": response(status="307 X", headers={"Location": "http://127.0.0.1:9/"}),
    "a refusal that is deep": json_response(b"[" * 100_000, "400 Bad Request"),
    "a refusal of another shape": json_response({"__type": 5, "message": []}, "400 Bad Request"),
    "a refusal that is a list": json_response([], "400 Bad Request"),
    "a refusal without words": json_response(b"", "403 Forbidden"),
    "busy for ever": json_response({"__type": "ThrottlingException"}, "400 Bad Request"),
    "broken for ever": json_response(b"", "500 Oops"),
    "a teapot": json_response(b"\0\0", "418 Teapot"),
}

SLOW = {
    "silent": [30.0],
    "dripping headers": [b"HTTP/1.1 200 OK\r\n", *dripped(b"X-A: b\r\n" * 100)],
    "a dripping body": [json_response(JOB)[:-100], *dripped(b" " * 100)],
}


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Return a way to run a command that asks AWS, which must end within its time."""
    for name, value in {**CREDENTIALS, "SMSPEC_HTTP_TIMEOUT": str(DEADLINE)}.items():
        monkeypatch.setenv(name, value)

    def run(server, *words):
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{server.host}")
        started = time.monotonic()
        done = smspec(*words, cwd=tmp_path)
        assert time.monotonic() - started < DEADLINE + 12
        return done

    return run


def assert_refused(done):
    assert (done.status, done.out) == (3, ""), done.err
    last = done.err.splitlines()[-1]
    assert last.startswith("smspec: ") and last.isprintable() and len(last) < 600, done.err
    assert "Traceback" not in done.err and "internal error" not in done.err


@pytest.mark.parametrize("case", [*BROKEN, *SLOW])
def test_malformed_description_is_not_imported(case, asked):
    with hostile_server(lambda _: list(SLOW.get(case, ())) or [BROKEN[case]]) as server:
        assert_refused(asked(server, "import", "nightly"))


ODD = {
    "a time beyond all": but(CreationTime=1e300),
    "an unknown member": but(Surprise={"a": [1]}),
    "null everywhere": json_response(dict.fromkeys(JOB, None) | {"TrainingJobName": "nightly", "TrainingJobArn": ARN}),
    "an odd ARN": but(TrainingJobArn=":::::::"),
    "strange names": but(HyperParameters={"": "", "a=b": "", "\n": ""}),
    "a lone surrogate": json_response(json.dumps({**JOB, "HyperParameters": {"a": "\ud800"}}).encode()),
    "control characters": but(HyperParameters={"a": "\x00\x1b[31m\u202e"}),
}


@pytest.mark.parametrize("description", ODD)
def test_odd_description_is_imported_or_rejected(description, asked):
    with hostile_server(lambda _: [ODD[description]]) as server:
        done = asked(server, "import", "nightly")
    assert done.status in (0, 1, 3), done.err
    assert "Traceback" not in done.err and "internal error" not in done.err


TAGS = {
    "no list": {"Tags": {}},
    "a text": {"Tags": ["a"]},
    "no key": {"Tags": [{"Value": "b"}]},
    "a number": {"Tags": [{"Key": 5, "Value": "b"}]},
    "for ever": {"Tags": [], "NextToken": "more"},
    "a list as token": {"Tags": [], "NextToken": ["more"]},
    "no object": [],
}


@pytest.mark.parametrize("case", TAGS)
def test_malformed_tags_are_omitted(case, asked):
    def answer(request):
        return [json_response(TAGS[case] if request.headers["x-amz-target"].endswith("ListTags") else JOB)]

    with hostile_server(answer) as server:
        done = asked(server, "import", "nightly")
    assert done.status == 0, done.err
    assert "not imported: Tags: " in done.err


LISTED = {
    "TrainingJobName": "small-0123456789",
    "TrainingJobArn": ARN,
    "CreationTime": 1,
    "TrainingJobStatus": "Failed",
}
LISTINGS = {
    "no list": {"TrainingJobSummaries": {}},
    "a text": {"TrainingJobSummaries": ["a"]},
    "a null": {"TrainingJobSummaries": [None]},
    "no name": {"TrainingJobSummaries": [{"CreationTime": 1, "TrainingJobArn": ARN}]},
    "a number as name": {"TrainingJobSummaries": [{**LISTED, "TrainingJobName": 5}]},
    "control characters": {"TrainingJobSummaries": [{**LISTED, "TrainingJobName": "small-\x1b[2J\u202e"}]},
    "a time beyond all": {"TrainingJobSummaries": [{**LISTED, "CreationTime": 1e300}]},
    "the last second": {"TrainingJobSummaries": [{**LISTED, "CreationTime": 253402300799}]},
    "a text as time": {"TrainingJobSummaries": [{**LISTED, "CreationTime": "yesterday"}]},
    "an odd ARN": {"TrainingJobSummaries": [{**LISTED, "TrainingJobArn": ":"}]},
    "for ever": {"TrainingJobSummaries": [LISTED], "NextToken": "more"},
    "a list as token": {"TrainingJobSummaries": [], "NextToken": ["more"]},
    "no object": [],
}


@pytest.mark.parametrize("case", LISTINGS)
def test_malformed_listing_stops_no_job(case, asked, tmp_path):
    """Each name in it is as invalid as the rest, or is not of the spec."""
    write_job(tmp_path, READY + "region: us-west-2\n")

    def answer(request):
        operation = request.headers["x-amz-target"].rpartition(".")[2]
        if operation == "DescribeTrainingJob":
            missing = {"__type": "ValidationException", "message": "Requested resource not found."}
            return [json_response(missing, status="400 Bad Request")]
        return [json_response({"Tags": []} if operation == "ListTags" else LISTINGS[case])]

    with hostile_server(answer) as server:
        done = asked(server, "stop", "job.yaml")
    assert done.status in (1, 3) and done.out == "", done.err
    assert "Traceback" not in done.err and "internal error" not in done.err
    assert done.err.replace("\n", "").isprintable()


ECR = {
    "no data": {},
    "no list": {"authorizationData": {}},
    "an empty list": {"authorizationData": []},
    "a text": {"authorizationData": ["dG9rZW4="]},
    "no token": {"authorizationData": [{}]},
    "a number": {"authorizationData": [{"authorizationToken": 5}]},
    "a line break": {"authorizationData": [{"authorizationToken": "dG9r\r\nX-Evil: 1"}]},
    "another alphabet": {"authorizationData": [{"authorizationToken": "tökén"}]},
    "an empty token": {"authorizationData": [{"authorizationToken": ""}]},
    "a text as time": {"authorizationData": [{"authorizationToken": "dG9r", "expiresAt": "yesterday"}]},
    "no object": [],
}


@pytest.mark.parametrize("case", ECR)
def test_malformed_ecr_credentials_are_rejected(case, asked, tmp_path):
    write_job(tmp_path, BUILT.replace("python:3.12-slim-bookworm", "111122223333.dkr.ecr.us-west-2.amazonaws.com/x:1"))
    with hostile_server(lambda _: [json_response(ECR[case])]) as server:
        done = asked(server, "lock")
    assert done.status == 3
    cause, ending = done.err.splitlines()
    assert ": Amazon ECR in us-west-2: " in cause and cause.isprintable()
    assert ending.startswith("smspec: smspec.lock not written")
    assert not (tmp_path / "smspec.lock").exists()


@pytest.mark.parametrize(
    "host",
    [
        "111122223333.dkr.ecr.us-west-2.evil.invalid",
        "111122223333.dkr.ecr.us-west-2.amazonaws.com.evil.invalid",
        "111122223333.dkr.ecr.us-west-2.amazonaws.com:9",
        "111122223333.dkr.ecr.eu-west-1.us-west-2.evil.amazonaws.com.invalid",
    ],
)
def test_registry_resembling_ecr_gets_no_credentials(host, asked, tmp_path):
    """The author of a spec chooses the name, so AWS is not asked for a token."""
    write_job(tmp_path, BUILT.replace("python:3.12-slim-bookworm", f"{host}/x:1"))
    with hostile_server(
        lambda _: [json_response({"authorizationData": [{"authorizationToken": "dG9rZW4="}]})]
    ) as server:
        assert asked(server, "lock").status == 3
        assert server.asked == []
