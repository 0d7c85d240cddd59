"""SageMaker and CloudWatch Logs for tests, with what moto has not: states, failures, logs that arrive late, and faults.

It speaks the JSON protocol of both over HTTP. A job is a list of looks: each DescribeTrainingJob sees the next one, and
the last one again and again.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from support.servers.aws_server import CREDENTIALS
from support.servers.serving import serving

REGION = "us-west-2"
CREATED = 1_700_000_000
_PAGE = 3
_OVER = ("Completed", "Failed", "Stopped")


def look(status: str, secondary: str = "", *, message: str = "", **members: Any) -> dict[str, Any]:
    """Return what DescribeTrainingJob says of a job at one moment; times are seconds from its creation.

    The member ``members`` has members of the response.
    """
    return {"status": status, "secondary": secondary or status, "message": message, **members}


COMPLETED = look("Completed", began=60, ended=180, billable=120)


_OF_ANY_JOB = {
    "ResourceConfig": {"InstanceCount": 2, "InstanceType": "ml.m5.large", "VolumeSizeInGB": 30},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
}


def as_described(request: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a request as DescribeTrainingJob shows them: with defaults, and without empty ones."""
    if not request:
        return {}
    shown = {name: value for name, value in request.items() if name != "Tags" and value not in ({}, [])}
    channels = []
    for channel in request.get("InputDataConfig", ()):
        source = {name: dict(value) for name, value in channel["DataSource"].items()}
        if "S3DataSource" in source:
            source["S3DataSource"].setdefault("S3DataDistributionType", "FullyReplicated")
        channels.append({"CompressionType": "None", "RecordWrapperType": "None", **channel, "DataSource": source})
    output = {"KmsKeyId": "", "CompressionType": "GZIP", **request.get("OutputDataConfig", {})}
    return {
        "EnableNetworkIsolation": False,
        "EnableInterContainerTrafficEncryption": False,
        "EnableManagedSpotTraining": False,
        "ProfilerConfig": {"S3OutputPath": output.get("S3OutputPath", ""), "ProfilingIntervalInMilliseconds": 500},
        "ProfilingStatus": "Enabled",
        **shown,
        "StoppingCondition": {"MaxRuntimeInSeconds": 86400, **request.get("StoppingCondition", {})},
        **({"InputDataConfig": channels} if channels else {}),
        **({"OutputDataConfig": output} if "OutputDataConfig" in request else {}),
    }


class JobServer(ThreadingHTTPServer):
    """``outcomes``: instance type → the looks of its jobs, or the code with which their creation fails.

    ``most_alive``: of how many jobs no DescribeTrainingJob had shown the end when the last was created, at most.

    ``jobs``: name → looks. ``requests``: name → the request of a job, which its description
    shows. ``logs``: stream → (seconds, text). ``asked`` counts the calls by operation, and
    ``regions`` are those that they were signed for.

    ``created`` are the requests of the jobs that were created, which begin with ``first_looks``. ``dropped``: how many
    of the next creations break the connection after the job exists. ``faults``: operation → what the next calls fail
    with, an HTTP status and an error code each, and perhaps a message. ``execute`` returns the looks of a job that was
    created, instead of ``first_looks``.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Forget all jobs, logs, calls, and faults."""
        self.jobs: dict[str, list[dict[str, Any]]] = {}
        self.requests: dict[str, dict[str, Any]] = {}
        self.request: dict[str, Any] = {}
        self.logs: dict[str, list[tuple[float, str]]] = {}
        self.faults: dict[str, list[tuple[int, str] | tuple[int, str, str]]] = {}
        self.asked: Counter[str] = Counter()
        self.regions: set[str] = set()
        self.stopped: list[str] = []
        self.created: list[dict[str, Any]] = []
        self.first_looks = [look("InProgress", "Starting")]
        self.dropped = 0
        self.page = _PAGE
        self.execute: Callable[[dict[str, Any]], list[dict[str, Any]]] = lambda _request: list(self.first_looks)
        self.algorithm_defaults: dict[str, str] = {}
        self.outcomes: dict[str, str | Sequence[dict[str, Any]]] = {}
        self.seen: dict[str, dict[str, Any]] = {}
        self.most_alive = 0
        self.on_create: Callable[[], None] = lambda: None
        self.on_stop: Callable[[str], None] = lambda _name: None
        self.on_describe: Callable[[int], None] = lambda _count: None
        self.on_search: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]] = lambda _request, page: page

    @property
    def environ(self) -> dict[str, str]:
        return {
            **CREDENTIALS,
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.server_port}",
            "AWS_REGION": REGION,
            "AWS_CONFIG_FILE": "/nowhere/config",
            "AWS_SHARED_CREDENTIALS_FILE": "/nowhere/credentials",
        }

    def log(self, host: str, seconds: float, *lines: str, job: str = "nightly") -> None:
        """Add lines to the stream of a host, one per second."""
        stream = self.logs.setdefault(f"{job}/{host}-{CREATED}", [])
        stream += [(seconds + number, line) for number, line in enumerate(lines)]

    def put(self, request: dict[str, Any], *looks: dict[str, Any], name: str = "", tags: Sequence[str] = ()) -> str:
        """Add a job that exists, with the request of a spec under a name, and tags as ``KEY=VALUE``."""
        made = {**request, "TrainingJobName": name or request["TrainingJobName"]}
        made["Tags"] = [{"Key": key, "Value": value} for key, _, value in (tag.partition("=") for tag in tags)]
        self.requests[made["TrainingJobName"]] = made
        self.jobs[made["TrainingJobName"]] = list(looks)
        return str(made["TrainingJobName"])

    def describe(self, request: dict[str, Any]) -> dict[str, Any]:
        name = request["TrainingJobName"]
        if name not in self.jobs:
            raise _Refused(400, "ValidationException", "Requested resource not found.")
        looks = self.jobs[name]
        self.on_describe(self.asked["DescribeTrainingJob"])
        now = looks.pop(0) if len(looks) > 1 else looks[0]
        self.seen[name] = now
        return self._described(name, now)

    def _described(self, name: str, now: dict[str, Any]) -> dict[str, Any]:
        answer = {
            **as_described(self.requests.get(name, {})),
            "TrainingJobName": name,
            "TrainingJobArn": f"arn:aws:sagemaker:{REGION}:123456789012:training-job/{name}",
            "TrainingJobStatus": now["status"],
            "SecondaryStatus": now["secondary"],
            "CreationTime": CREATED,
            **({} if name in self.requests else _OF_ANY_JOB),
            "SecondaryStatusTransitions": [
                {
                    "Status": now["secondary"],
                    "StartTime": CREATED + now.get("start", 0),
                    "StatusMessage": now["message"],
                }
            ],
            **self.request,
            **now.get("members", {}),
        }
        for key, member in (("began", "TrainingStartTime"), ("ended", "TrainingEndTime")):
            if key in now:
                answer[member] = CREATED + now[key]
        for key, member in (("reason", "FailureReason"), ("billable", "BillableTimeInSeconds")):
            if key in now:
                answer[member] = now[key]
        return answer

    def streams(self, request: dict[str, Any]) -> dict[str, Any]:
        if not self.logs:
            raise _Refused(400, "ResourceNotFoundException", "The specified log group does not exist.")
        names = sorted(name for name in self.logs if name.startswith(request["logStreamNamePrefix"]))
        start = int(request.get("nextToken", 0))
        page = {"logStreams": [{"logStreamName": name} for name in names[start : start + 2]]}
        return page if start + 2 >= len(names) else {**page, "nextToken": str(start + 2)}

    def events(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return three events a page. As the real one may, it sends an empty page before the first."""
        least = request.get("startTime", 0)
        lines = [line for line in self.logs[request["logStreamName"]] if (CREATED + line[0]) * 1000 >= least]
        size = min(self.page, request.get("limit", 10_000))
        token = request.get("nextToken", "f/-1" if request["startFromHead"] else f"b/{len(lines)}")
        start = int(token[2:]) if token.startswith("f/") else max(0, int(token[2:]) - size)
        if start < 0:
            return {"events": [], "nextForwardToken": "f/0", "nextBackwardToken": "b/0"}
        page = lines[start : start + size if token.startswith("f/") else int(token[2:])]
        events = [
            {"timestamp": int((CREATED + when) * 1000), "message": text, "ingestionTime": 0} for when, text in page
        ]
        return {
            "events": events,
            "nextForwardToken": f"f/{start + len(page)}",
            "nextBackwardToken": f"b/{start}",
        }

    def create(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Create a job; None, after it is created, while ``dropped`` is above 0: the connection is to break then."""
        name = request["TrainingJobName"]
        if name in self.jobs:
            raise _Refused(400, "ResourceInUse", f"Training job names must be unique: {name}")
        outcome = self.outcomes.get(request.get("ResourceConfig", {}).get("InstanceType", ""))
        if isinstance(outcome, str):
            raise _Refused(400, outcome, "as the test wants it")
        self.created.append(request)
        self.requests[name] = request
        self.jobs[name] = self.execute(request) if outcome is None else list(outcome)
        alive = [each for each in self.jobs if self.seen.get(each, {}).get("status") not in _OVER]
        self.most_alive = max(self.most_alive, len(alive))
        self.on_create()
        if self.dropped:
            self.dropped -= 1
            return None
        return {"TrainingJobArn": f"arn:aws:sagemaker:{REGION}:123456789012:training-job/{name}"}

    def refuse(self, status: int, code: str, message: str) -> None:
        """Answer the present call with an error."""
        raise _Refused(status, code, message)

    def tags(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"Tags": self.requests.get(request["ResourceArn"].rpartition("/")[2], {}).get("Tags", [])}

    def listed(self, request: dict[str, Any], size: int = 2) -> dict[str, Any]:
        """Return the newest jobs whose names contain a text, so many on a page."""
        found = sorted((-self._created(name), name) for name in self.jobs if request.get("NameContains", "") in name)
        start = int(request.get("NextToken", 0))
        page = [
            {
                "TrainingJobName": name,
                "TrainingJobArn": f"arn:aws:sagemaker:{REGION}:123456789012:training-job/{name}",
                "CreationTime": -negative,
                "TrainingJobStatus": self.jobs[name][0]["status"],
            }
            for negative, name in found[start : start + size]
        ]
        more = {"NextToken": str(start + size)} if start + size < len(found) else {}
        return {"TrainingJobSummaries": page, **more}

    def search(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the newest jobs, with their tags, whose names contain a text; ``on_search`` may change the page."""
        filters = {
            each["Name"]: each.get("Value", "") for each in request.get("SearchExpression", {}).get("Filters", ())
        }
        part = filters.get("TrainingJobName", "")
        found = sorted((-self._created(name), name) for name in self.jobs if part in name)
        start = int(request.get("NextToken", 0))
        stop = start + request["MaxResults"]
        page = [
            {
                "TrainingJob": {
                    **self._described(name, self.jobs[name][0]),
                    "Tags": self.requests.get(name, {}).get("Tags", []),
                }
            }
            for _, name in found[start:stop]
        ]
        return self.on_search(request, {"Results": page, **({"NextToken": str(stop)} if stop < len(found) else {})})

    def algorithm(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return an algorithm that has the hyperparameters of ``algorithm_defaults``."""
        known = [{"Name": name, "DefaultValue": value} for name, value in self.algorithm_defaults.items()]
        return {
            "AlgorithmName": request["AlgorithmName"],
            "TrainingSpecification": {"SupportedHyperParameters": known},
        }

    def _created(self, name: str) -> float:
        return float(self.jobs[name][0].get("members", {}).get("CreationTime", CREATED))

    def add_tags(self, request: dict[str, Any]) -> dict[str, Any]:
        job = self.requests[request["ResourceArn"].rpartition("/")[2]]
        tags = {tag["Key"]: tag["Value"] for tag in (*job["Tags"], *request["Tags"])}
        job["Tags"] = [{"Key": key, "Value": value} for key, value in tags.items()]
        return {"Tags": job["Tags"]}

    def stop(self, request: dict[str, Any]) -> dict[str, Any]:
        self.stopped.append(request["TrainingJobName"])
        self.on_stop(request["TrainingJobName"])
        return {}


class _Refused(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(code)
        self.status, self.code, self.message = status, code, message


class _Handler(BaseHTTPRequestHandler):
    server: JobServer

    def do_POST(self) -> None:
        operation = self.headers.get("X-Amz-Target", "").rpartition(".")[2]
        content, server = self.rfile.read(int(self.headers["Content-Length"])), self.server
        request = json.loads(content) if operation else {}
        try:
            with server.lock:
                server.asked[operation] += 1
                server.regions.add(self.headers["Authorization"].split("/")[2])
                if server.faults.get(operation):
                    status, code, *message = server.faults[operation].pop(0)
                    raise _Refused(status, code, *message or ["as the test wants it"])
                calls = {
                    "DescribeTrainingJob": server.describe,
                    "StopTrainingJob": server.stop,
                    "CreateTrainingJob": server.create,
                    "ListTags": server.tags,
                    "ListTrainingJobs": server.listed,
                    "Search": server.search,
                    "AddTags": server.add_tags,
                    "DescribeLogStreams": server.streams,
                    "GetLogEvents": server.events,
                    "DescribeAlgorithm": server.algorithm,
                }
                if operation not in calls:  # of STS, Service Quotas, and the other services, as many emulators
                    raise _Refused(400, "UnknownOperationException", "not supported")
                answer = calls[operation](request)
            if answer is None:
                self.close_connection = True  # without a response
                return
            self._send(200, answer)
        except _Refused as refused:
            self._send(refused.status, {"__type": refused.code, "message": refused.message})

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: object) -> None:
        """Keep quiet."""


@contextlib.contextmanager
def job_server() -> Iterator[JobServer]:
    """Run the server on a free port."""
    server = JobServer()
    with serving(server):
        yield server


@contextlib.contextmanager
def job_server_of_process() -> Iterator[JobServer]:
    """Run the server as that of this process, whose commands look at a job without pauses."""
    with job_server() as running, pytest.MonkeyPatch.context() as patch:
        for name, value in running.environ.items():
            patch.setenv(name, value)
        patch.setattr("smspec.submission.following.INTERVAL_SECONDS", 0)
        yield running
