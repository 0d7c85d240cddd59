"""Runs state machines in moto's interpreter of the States Language, with a scripted SageMaker.

It reads a line of JSON for each execution and writes one. It is a process because the interpreter needs another antlr4
than Hydra (`machine_process.py` installs it). moto does not know Step Functions' integration of SageMaker, so the
Task states call `ScriptedSageMaker`: the one with ``.sync`` creates a job and waits for its end, the one of the SDK
describes it. The interpreter does the rest.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import boto3
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.exec.state_task import state_task_factory
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.resource import ResourceCondition
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_aws_sdk import (
    StateTaskServiceAwsSdk,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_callback import (
    StateTaskServiceCallback,
)

Looks = list[dict[str, Any]]
_ROLE = "arn:aws:iam::123456789012:role/machine"


class ScriptedSageMaker:
    """``script``: per call of CreateTrainingJob, an error code, or the looks at the job that it creates.

    A look is what DescribeTrainingJob says; the last one stays. ``lost``: errors of calls that made a job nevertheless.
    ``stopped_succeeds``: how the integration reports a job that was stopped, which AWS does not document. ``hidden``:
    the state that describes a job fails.
    """

    def __init__(
        self, *script: str | Looks, lost: Sequence[str] = (), stopped_succeeds: bool = False, hidden: bool = False
    ) -> None:
        self.script, self.lost, self.stopped_succeeds, self.hidden = list(script), list(lost), stopped_succeeds, hidden
        self.jobs: dict[str, Looks] = {}
        self.created: list[dict[str, Any]] = []
        self.most_alive = 0

    def create(self, request: dict[str, Any]) -> str:
        name = request["TrainingJobName"]
        if name in self.jobs:
            raise _error("ResourceInUse", "Training job names must be unique")
        outcome = self.script.pop(0)
        if isinstance(outcome, str):
            raise _error(outcome, "as the test wants it")
        self.created.append(request)
        self.jobs[name] = list(outcome)
        alive = sum(looks[0]["TrainingJobStatus"] in ("InProgress", "Stopping") for looks in self.jobs.values())
        self.most_alive = max(self.most_alive, alive)
        if self.lost:
            raise _error(self.lost.pop(0), "the response was lost")
        return name

    def describe(self, name: str) -> dict[str, Any]:
        if name not in self.jobs:
            raise _error("ValidationException", "Requested resource not found.")
        looks = self.jobs[name]
        now = looks.pop(0) if len(looks) > 1 else looks[0]
        arn = f"arn:aws:sagemaker:us-west-2:123456789012:training-job/{name}"
        return {"TrainingJobName": name, "TrainingJobArn": arn, **now}

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Create a job and wait for it, as the integration does."""
        name = self.create(request)
        while (job := self.describe(name))["TrainingJobStatus"] in ("InProgress", "Stopping"):
            pass
        if job["TrainingJobStatus"] == "Completed" or (job["TrainingJobStatus"] == "Stopped" and self.stopped_succeeds):
            return job
        raise _JobFailed(json.dumps(job))


class _JobFailed(Exception):
    """The job has not completed."""


def _error(code: str, message: str) -> ClientError:
    metadata = {"HTTPStatusCode": 400, "RequestId": "1"}
    answer: Any = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": metadata}
    return ClientError(answer, "SageMaker")


@contextlib.contextmanager
def interpreter(holder: list[ScriptedSageMaker]) -> Iterator[Any]:
    """Yield a client of Step Functions whose machines use the service in ``holder``."""

    class Sdk(StateTaskServiceAwsSdk):
        def _eval_service_task(
            self, env: Any, resource_runtime_part: Any, normalised_parameters: Any, **_: Any
        ) -> None:
            service = holder[0]
            if service.hidden:
                raise _error("AccessDeniedException", "the role may not describe jobs")
            env.stack.append(service.describe(normalised_parameters["TrainingJobName"]))

    class Integration(StateTaskServiceAwsSdk):
        def __init__(self) -> None:
            StateTaskServiceCallback.__init__(self, supported_integration_patterns={ResourceCondition.Sync})

        def _eval_service_task(
            self, env: Any, resource_runtime_part: Any, normalised_parameters: Any, **_: Any
        ) -> None:
            env.stack.append(holder[0].run(normalised_parameters))

        def _eval_integration_pattern(self, **_: Any) -> None:
            """It has waited already."""

        def _from_error(self, env: Any, ex: Exception) -> Any:
            if isinstance(ex, _JobFailed):
                return self._get_task_failure_event(env=env, error="States.TaskFailed", cause=str(ex))
            if isinstance(ex, ClientError):
                code = ex.response["Error"]["Code"].removesuffix("Exception")
                name = "ThrottlingException" if code == "Throttling" else f"SageMaker.{code}Exception"
                return self._get_task_failure_event(env=env, error=name, cause=str(ex))
            return super()._from_error(env=env, ex=ex)

    kinds = {"aws-sdk": Sdk, "sagemaker": Integration}
    with (
        mock_aws(config={"stepfunctions": {"execute_state_machine": True}}),
        # The language has no interval below a second.
        patch.object(retrier_decl, "time", SimpleNamespace(sleep=lambda _seconds: None)),
        patch.object(state_task_factory, "state_task_service_for", lambda service_name: kinds[service_name]()),
    ):
        yield boto3.client("stepfunctions", "us-west-2", aws_access_key_id="test", aws_secret_access_key="test")


def executed(client: Any, definition: dict[str, Any], input: str = "{}") -> dict[str, Any]:
    """Run a machine once, without its pauses, and return what DescribeExecution says at its end."""
    name = f"machine-{time.monotonic_ns()}"
    text = json.dumps(_hurried(definition))
    machine = client.create_state_machine(name=name, definition=text, roleArn=_ROLE)["stateMachineArn"]
    arn = client.start_execution(stateMachineArn=machine, input=input)["executionArn"]
    end = time.monotonic() + 60
    while (execution := client.describe_execution(executionArn=arn))["status"] == "RUNNING":
        assert time.monotonic() < end, client.get_execution_history(executionArn=arn)["events"][-3:]
        time.sleep(0.02)
    return dict(execution)


def _hurried(value: Any) -> Any:
    if isinstance(value, dict):
        rest = {key: _hurried(inner) for key, inner in value.items()}
        if "IntervalSeconds" in rest:
            rest |= {"IntervalSeconds": 1, "BackoffRate": 1, "MaxAttempts": min(2, rest["MaxAttempts"])}
        return rest | ({"Seconds": 0} if "Seconds" in rest else {})
    return [_hurried(item) for item in value] if isinstance(value, list) else value


def main() -> None:
    holder = [ScriptedSageMaker()]
    with interpreter(holder) as client:
        for line in sys.stdin:
            wanted = json.loads(line)
            holder[0] = service = ScriptedSageMaker(*wanted["script"], **wanted["behavior"])
            executions = [executed(client, wanted["definition"], wanted["input"]) for _ in range(wanted["times"])]
            shown = [{key: one.get(key) for key in ("status", "output", "error", "cause")} for one in executions]
            answer = {"executions": shown, "created": service.created, "most_alive": service.most_alive}
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
