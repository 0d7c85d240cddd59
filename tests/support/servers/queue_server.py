"""AWS Batch for tests: job queues of training jobs, in front of the SageMaker of `job_server`, with faults.

Each call is checked with botocore's model of AWS Batch, and each response too. A service job goes through the words of
``plan``, one at each DescribeServiceJob: a status, ``START`` creates its training job, and ``RETRY`` ends an attempt.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

import botocore.session
import pytest
from botocore.validate import ParamValidator

from support.servers.job_server import CREATED, REGION, JobServer
from support.servers.serving import serving

ACCOUNT = "123456789012"
PLAN = ("RUNNABLE", "START", "RUNNING", "SUCCEEDED")
SIZE = 2
"""Of a page."""

_ARN = f"arn:aws:batch:{REGION}:{ACCOUNT}"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
_OVER = ("SUCCEEDED", "FAILED")


@lru_cache(maxsize=1)
def model() -> Any:
    return botocore.session.get_session().get_service_model("batch")


@lru_cache(maxsize=1)
def operations() -> dict[str, str]:
    """Return the operation of each path."""
    return {model().operation_model(name).http["requestUri"]: name for name in model().operation_names}


def problems(shape: Any, value: dict[str, Any]) -> str:
    return str(ParamValidator().validate(value, shape).generate_report())


class Refused(Exception):
    def __init__(self, message: str, code: str = "ClientException", status: int = 400) -> None:
        super().__init__(message)
        self.code, self.status = code, status


class QueueServer(ThreadingHTTPServer):
    """``queues``: name → its description. ``submitted`` are the requests of service jobs, ``jobs`` these by their id.

    ``dropped``: how many of the next submissions break the connection after the job exists. ``faults``: operation →
    what the next calls fail with. ``returns_the_first``: what a token does that is known; else it is rejected.
    ``unlisted``: in how many lists a new job is missing.
    """

    def __init__(self, sagemaker: JobServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sagemaker = sagemaker
        self.lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        self.queues: dict[str, dict[str, Any]] = {}
        self.environments: dict[str, dict[str, Any]] = {}
        self.policies: dict[str, dict[str, Any]] = {}
        self.shares: list[str] = []
        self.jobs: dict[str, dict[str, Any]] = {}
        self.submitted: list[dict[str, Any]] = []
        self.asked: Counter[str] = Counter()
        self.faults: dict[str, list[tuple[int, str]]] = {}
        self.plan: tuple[str, ...] = PLAN
        self.dropped = self.unlisted = 0
        self.returns_the_first = False
        self.ahead: list[str] = []
        self.attempts = 0
        self.on_describe: Callable[[], None] = lambda: None
        self.add_queue("training")

    @property
    def environ(self) -> dict[str, str]:
        return {"AWS_ENDPOINT_URL_BATCH": f"http://127.0.0.1:{self.server_port}"}

    def add_queue(self, name: str, *, policy: str = "", capacity: int = 10, unit: str = "NUM_INSTANCES") -> None:
        """Add a queue with an environment; ``policy``: `fair` or `quota`, empty for first in, first out."""
        self.environments[f"{name}-env"] = {
            "serviceEnvironmentName": f"{name}-env",
            "serviceEnvironmentArn": f"{_ARN}:service-environment/{name}-env",
            "serviceEnvironmentType": "SAGEMAKER_TRAINING",
            "state": "ENABLED",
            "status": "VALID",
            "capacityLimits": [{"maxCapacity": capacity, "capacityUnit": unit}],
        }
        self.queues[name] = {
            "jobQueueName": name,
            "jobQueueArn": f"{_ARN}:job-queue/{name}",
            "state": "ENABLED",
            "status": "VALID",
            "priority": 1,
            "computeEnvironmentOrder": [],
            "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": f"{_ARN}:service-environment/{name}-env"}],
            "jobQueueType": "SAGEMAKER_TRAINING",
        }
        if policy:
            arn = f"{_ARN}:scheduling-policy/{name}"
            kind = {
                "fair": {"fairsharePolicy": {"shareDistribution": [{"shareIdentifier": "ads", "weightFactor": 1.0}]}},
                "quota": {"quotaSharePolicy": {"idleResourceAssignmentStrategy": "FIFO"}},
            }[policy]
            self.queues[name]["schedulingPolicyArn"] = arn
            self.policies[arn] = {"name": name, "arn": arn, **kind}

    def SubmitServiceJob(self, request: dict[str, Any]) -> dict[str, Any] | None:
        queue = self.queue(request["jobQueue"])
        self.check(request, queue)
        body = json.dumps(request, sort_keys=True)
        for job in self.jobs.values():
            if job["token"] == request.get("clientToken"):
                if job["body"] != body or not self.returns_the_first:
                    raise Refused("A request with this clientToken was received before")
                return {name: job[name] for name in ("jobArn", "jobName", "jobId")}
        number = len(self.submitted) + 1
        identity = f"00000000-0000-0000-0000-{number:012d}"
        kept = ("retryStrategy", "schedulingPriority", "shareIdentifier", "quotaShareName", "timeoutConfig", "tags")
        self.jobs[identity] = {
            "jobId": identity,
            "jobArn": f"{_ARN}:service-job/{identity}",
            "jobName": request["jobName"],
            "jobQueue": queue["jobQueueArn"],
            "serviceJobType": request["serviceJobType"],
            "serviceRequestPayload": request["serviceRequestPayload"],
            "createdAt": (CREATED + number) * 1000,
            "startedAt": 0,
            "status": "SUBMITTED",
            "attempts": [],
            **{name: request[name] for name in kept if name in request},
            "token": request.get("clientToken"),
            "body": body,
            "steps": list(self.plan),
            "unlisted": self.unlisted,
        }
        self.submitted.append(request)
        if self.dropped:
            self.dropped -= 1
            return None
        return {name: self.jobs[identity][name] for name in ("jobArn", "jobName", "jobId")}

    def check(self, request: dict[str, Any], queue: dict[str, Any]) -> None:
        """Refuse what AWS Batch refuses."""
        payload = request["serviceRequestPayload"]
        if not _NAME.fullmatch(request["jobName"]) or len(request.get("clientToken", "")) > 64:
            raise Refused("jobName or clientToken is malformed")
        if queue["state"] != "ENABLED":
            raise Refused("the job queue is disabled")
        if len(payload.encode()) > 10 * 1024 or not isinstance(json.loads(payload), dict):
            raise Refused("serviceRequestPayload is too large, or not JSON")
        if not 0 <= request.get("schedulingPriority", 0) <= 9999:
            raise Refused("schedulingPriority must be from 0 to 9999")
        if not 1 <= request.get("retryStrategy", {}).get("attempts", 1) <= 10:
            raise Refused("attempts must be from 1 to 10")
        policy = self.policies.get(queue.get("schedulingPolicyArn", ""), {})
        for member, kind in (("shareIdentifier", "fairsharePolicy"), ("quotaShareName", "quotaSharePolicy")):
            if (member in request) is not (kind in policy):
                raise Refused(f"{member} does not fit the scheduling policy of the queue")

    def queue(self, name: str) -> dict[str, Any]:
        found = self.queues.get(name.rpartition("/")[2])
        if found is None:
            raise Refused(f"JobQueue {name} does not exist")
        return found

    def shown(self, job: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in job.items() if name not in ("token", "body", "steps", "unlisted")}

    def DescribeServiceJob(self, request: dict[str, Any]) -> dict[str, Any]:
        job = self.job(request)
        self.on_describe()
        if job["steps"] and job["status"] not in _OVER:
            self.advance(job, job["steps"].pop(0))
        return self.shown(job)

    def job(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["jobId"] not in self.jobs:
            raise Refused(f"Service job {request['jobId']} does not exist")
        return self.jobs[request["jobId"]]

    def advance(self, job: dict[str, Any], word: str) -> None:
        now = job["createdAt"] + 1000 * (1 + 10 * len(job["attempts"]))
        if word == "START":
            self.attempts += 1
            payload = json.loads(job["serviceRequestPayload"])
            name = f"AWSBatch{payload['TrainingJobName']}"[:31] + f"{self.attempts:032x}"
            with self.sagemaker.lock:
                self.sagemaker.create({**payload, "TrainingJobName": name, "Tags": []})
            arn = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-job/{name}"
            job["latestAttempt"] = {"serviceResourceId": {"name": "TrainingJobArn", "value": arn}}
            job["status"], job["startedAt"] = "STARTING", now
            return
        if word in (*_OVER, "RETRY") and "latestAttempt" in job and len(job["attempts"]) < self.attempts:
            reason = "Received status from SageMaker: AlgorithmError" if word != "SUCCEEDED" else "completed"
            job["attempts"] = [
                *job["attempts"],
                {**job["latestAttempt"], "startedAt": now, "stoppedAt": now + 5000, "statusReason": reason},
            ]
        job["status"] = "RUNNABLE" if word == "RETRY" else word
        if word in _OVER:
            job["stoppedAt"] = now + 6000
            job["statusReason"] = job["attempts"][-1]["statusReason"] if job["attempts"] else "ended in the queue"

    def ListServiceJobs(self, request: dict[str, Any]) -> dict[str, Any]:
        queue = self.queue(request["jobQueue"])["jobQueueArn"]
        (wanted,) = request["filters"][0]["values"]
        found = []
        for job in sorted(self.jobs.values(), key=lambda job: -job["createdAt"]):
            name = job["jobName"].lower()
            is_it = name.startswith(wanted[:-1].lower()) if wanted.endswith("*") else name == wanted.lower()
            if job["jobQueue"] != queue or not is_it:
                continue
            if job["unlisted"]:
                job["unlisted"] -= 1
                continue
            kept = ("jobArn", "jobId", "jobName", "serviceJobType", "status", "createdAt", "latestAttempt")
            found.append({member: job[member] for member in kept if member in job})
        start = int(request.get("nextToken", 0))
        more = {"nextToken": str(start + SIZE)} if start + SIZE < len(found) else {}
        return {"jobSummaryList": found[start : start + SIZE], **more}

    def TerminateServiceJob(self, request: dict[str, Any]) -> dict[str, Any]:
        job = self.job(request)
        job["isTerminated"], job["steps"] = True, ["FAILED"]
        return {}

    def UpdateServiceJob(self, request: dict[str, Any]) -> dict[str, Any]:
        job = self.job(request)
        job["schedulingPriority"] = request["schedulingPriority"]
        return {name: job[name] for name in ("jobArn", "jobName", "jobId")}

    def TagResource(self, request: dict[str, Any]) -> dict[str, Any]:
        job = self.jobs[request["resourceArn"].rpartition("/")[2]]
        job["tags"] = {**job.get("tags", {}), **request["tags"]}
        return {}

    def GetJobQueueSnapshot(self, request: dict[str, Any]) -> dict[str, Any]:
        queue = self.queue(request["jobQueue"])["jobQueueArn"]
        waiting = [
            job["jobArn"] for job in self.jobs.values() if (job["status"], job["jobQueue"]) == ("RUNNABLE", queue)
        ]
        front = [{"jobArn": arn, "earliestTimeAtPosition": CREATED * 1000} for arn in (*self.ahead, *waiting)]
        return {"frontOfQueue": {"jobs": front, "lastUpdatedAt": CREATED * 1000}}

    def DescribeJobQueues(self, request: dict[str, Any]) -> dict[str, Any]:
        names = [name.rpartition("/")[2] for name in request.get("jobQueues", self.queues)]
        found = [self.queues[name] for name in names if name in self.queues]
        start = int(request.get("nextToken", 0))
        more = {"nextToken": str(start + SIZE)} if start + SIZE < len(found) else {}
        return {"jobQueues": found[start : start + SIZE], **more}

    def DescribeServiceEnvironments(self, request: dict[str, Any]) -> dict[str, Any]:
        names = [name.rpartition("/")[2] for name in request.get("serviceEnvironments", self.environments)]
        return {"serviceEnvironments": [self.environments[name] for name in names if name in self.environments]}

    def DescribeSchedulingPolicies(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"schedulingPolicies": [self.policies[arn] for arn in request["arns"] if arn in self.policies]}

    def ListQuotaShares(self, request: dict[str, Any]) -> dict[str, Any]:
        self.queue(request["jobQueue"])
        return {"quotaShares": [{"quotaShareName": name} for name in self.shares]}


class _Handler(BaseHTTPRequestHandler):
    server: QueueServer

    def do_POST(self) -> None:
        server, path = self.server, self.path
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        if path.startswith("/v1/tags/"):
            request["resourceArn"], path = unquote(path.removeprefix("/v1/tags/")), "/v1/tags/{resourceArn}"
        operation = "TagResource" if path.startswith("/v1/tags/") else operations()[path]
        shapes = model().operation_model(operation)
        try:
            with server.lock:
                server.asked[operation] += 1
                if server.faults.get(operation):
                    status, code = server.faults[operation].pop(0)
                    raise Refused("as the test wants it", code, status)
                wrong = problems(shapes.input_shape, request)
                assert not wrong, f"{operation}: {wrong}"
                answer = getattr(server, operation)(request)
                wrong = problems(shapes.output_shape, answer) if answer and shapes.output_shape else ""
                assert not wrong, f"response to {operation}: {wrong}"
        except Refused as refused:
            self._send(refused.status, {"message": str(refused)}, {"x-amzn-errortype": refused.code})
            return
        except AssertionError as wrong:
            self._send(400, {"message": str(wrong)}, {"x-amzn-errortype": "ContractViolation"})
            return
        if answer is None:
            self.close_connection = True  # without a response
            return
        self._send(200, answer, {})

    def _send(self, status: int, answer: dict[str, Any], headers: dict[str, str]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: object) -> None:
        """Keep quiet."""


@contextlib.contextmanager
def queue_server(sagemaker: JobServer) -> Iterator[QueueServer]:
    """Run the server on a free port."""
    if "SubmitServiceJob" not in model().operation_names:
        pytest.skip("the installed botocore does not know the service jobs of AWS Batch")
    server = QueueServer(sagemaker)
    with serving(server):
        yield server
