"""The job as a state machine of AWS Step Functions: each execution creates a job, and waits for its end.

Alternatives of hosts follow each other: the next is created only if the one before was not, for want of quota, or ended
for want of capacity before its instances started. Its status decides, however the integration reports its end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from smspec.render.tree import NothingToRender, Rendering
from smspec.service.arns import parsed_arn
from smspec.service.job_costs import hosts_text
from smspec.service.shapes import items
from smspec.source.frozen import dataclass

_DIGEST = re.compile(r"-([0-9a-f]{10})\Z")
_LONGEST_STEM = 36
"""63 characters (API shape TrainingJobName) without the digest, the number of an alternative, and 12 random digits."""

_MOST_TAGS = 49
"""A job has at most 50 (API shape TagList), and Step Functions adds one of its own to a job that it waits for."""

_POLL_SECONDS = 300
_NO_JOB = "SageMaker has no job of this name"

States = dict[str, object]

QUOTA = "SageMaker.ResourceLimitExceededException"
"""How Step Functions names a CreateTrainingJob above a quota, or of a type that the region does not have."""

_THROTTLED = {
    # The second one is also what other unmodeled errors are called, so that only a few attempts follow.
    "ErrorEquals": ["ThrottlingException", "SageMaker.AmazonSageMakerException", "SageMaker.ThrottlingException"],
    "IntervalSeconds": 5,
    "MaxAttempts": 6,
    "BackoffRate": 2,
}


@dataclass(frozen=True, slots=True)
class NameExpression:
    """The name of the job of an execution, in both languages."""

    json_path: str
    jsonata: str


def step_functions(payloads: Sequence[dict[str, object]]) -> Rendering:
    """Return the definition of a state machine in JSON; ``payloads`` are the requests of the alternatives, in order.

    Raise `NothingToRender` if the language would read a string as an expression, or if there is no room for its tag.
    """
    if any(len(items(payload, "Tags")) > _MOST_TAGS for payload in payloads):
        raise NothingToRender("the job has 50 tags, and Step Functions adds one; SageMaker accepts 50: remove one")
    stems = [name_stem(str(payload.get("TrainingJobName", "job"))) for payload in payloads]
    states: States = {
        "Name": {
            "Type": "Pass",
            "Comment": "The jobs of different executions have different names",
            "Parameters": {
                "run": {"id.$": "States.ArrayGetItem(States.StringSplit(States.UUID(), '-'), 4)"},
                "error": {"Cause": _NO_JOB},
            },
            "Next": _named("Train", 0, len(payloads)),
        }
    }
    for index, payload in enumerate(payloads):
        states |= _alternative(payload, stems[index], index, len(payloads))
    definition = {
        "Comment": f"Runs the training job {stems[0]}",
        "StartAt": "Name",
        "States": {**states, **_ends(len(payloads))},
    }
    return Rendering(text=json.dumps(definition, indent=2) + "\n", notes=(_permissions(payloads[0], stems[0]),))


def name_stem(name: str) -> str:
    """Return the beginning of the names of a job's executions: the name of the job, cut, with its digest."""
    digest = _DIGEST.search(name)
    stem = name[: digest.start()] if digest else name
    return stem[:_LONGEST_STEM].rstrip("-") + (digest.group() if digest else "")


def _alternative(payload: dict[str, object], stem: str, index: int, of: int) -> States:
    """Return the states of one alternative: create the job and wait for it, look at its end, decide what follows."""
    look, decide, wait = (_named(verb, index, of) for verb in ("Look", "Decide", "Wait"))
    name = name_expression(f"{stem}-a{index + 1}" if of > 1 else stem)
    role = parsed_arn(payload.get("RoleArn"))
    partition = role.partition if role else "aws"
    without_hosts = None if of == 1 else "NoCapacity" if index == of - 1 else _named("Train", index + 1, of)
    return {
        _named("Train", index, of): {
            "Type": "Task",
            "Comment": hosts_text(payload),
            "Resource": f"arn:{partition}:states:::sagemaker:createTrainingJob.sync",
            **job_task(payload, name, look, without_hosts),
        },
        look: {
            "Type": "Task",
            "Resource": f"arn:{partition}:states:::aws-sdk:sagemaker:describeTrainingJob",
            "Parameters": {"TrainingJobName.$": name.json_path},
            "ResultPath": "$.seen",
            "Retry": [{"ErrorEquals": ["States.TaskFailed"], "IntervalSeconds": 5, "MaxAttempts": 3, "BackoffRate": 2}],
            "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.unseen", "Next": "NotCreated"}],
            "Next": decide,
        },
        decide: {
            "Type": "Choice",
            "Choices": [
                {**_is("TrainingJobStatus", "Completed"), "Next": "Done"},
                {"Or": [_is("TrainingJobStatus", status) for status in ("InProgress", "Stopping")], "Next": wait},
                *([] if without_hosts is None else [{"And": _LACKED_HOSTS, "Next": without_hosts}]),
                {"Variable": "$.seen.FailureReason", "IsPresent": True, "Next": "Failed"},
            ],
            "Default": "NotCompleted",
        },
        wait: {"Type": "Wait", "Seconds": _POLL_SECONDS, "Next": look},
    }


def _is(member: str, value: str) -> dict[str, object]:
    return {"Variable": f"$.seen.{member}", "StringEquals": value}


def _ends(of: int) -> States:
    ends: States = {
        "Done": {
            "Type": "Pass",
            "Parameters": {
                f"{member}.$": f"$.seen.{member}"
                for member in ("TrainingJobName", "TrainingJobArn", "TrainingJobStatus")
            },
            "End": True,
        },
        "Failed": {"Type": "Fail", "Error": "TrainingJobFailed", "CausePath": "$.seen.FailureReason"},
        "NotCompleted": {"Type": "Fail", "Error": "TrainingJobNotCompleted", "CausePath": "$.seen.SecondaryStatus"},
        "NotCreated": {"Type": "Fail", "Error": "TrainingJobNotCreated", "CausePath": "$.error.Cause"},
    }
    if of > 1:
        ends["NoCapacity"] = {
            "Type": "Fail",
            "Error": "NoCapacity",
            "Cause": f"none of the {of} alternatives has capacity or quota now",
        }
    return ends


def _named(verb: str, index: int, of: int) -> str:
    return verb if of == 1 else f"{verb}{index + 1}"


def _permissions(payload: dict[str, object], stem: str) -> str:
    jobs = _DIGEST.sub("", stem)
    return (
        "the role of the state machine needs sagemaker:CreateTrainingJob, DescribeTrainingJob, StopTrainingJob, and"
        f" AddTags on training-job/{jobs}-*, iam:PassRole on {payload.get('RoleArn')}, and events:PutRule,"
        " PutTargets, and DescribeRule on rule/StepFunctionsGetEventsForSageMakerTrainingJobsRule"
    )


def name_expression(stem: str) -> NameExpression:
    """Return the name that begins with ``stem`` and ends in the random digits of the execution, in ``$.run.id``."""
    return NameExpression(f"States.Format('{stem}-{{}}', $.run.id)", f"{{% '{stem}-' & $states.input.run.id %}}")


def job_task(
    payload: dict[str, object], name: NameExpression, then: str, without_hosts: str | None
) -> dict[str, object]:
    """Return the members of the state that creates a job and waits for it.

    ``then``: the state that looks at its end, or at what was created in spite of an error. ``without_hosts``: the
    state that follows if a quota prevents the job; None: ``then``. Raise `NothingToRender` if a string of the request
    is an expression in both languages: in JSONPath, the default, a key that ends in `.$`; in JSONata a text between
    `{%` and `%}`.
    """
    rest = {member: value for member, value in payload.items() if member != "TrainingJobName"}
    follows = [*([] if without_hosts is None else [([QUOTA], without_hosts)]), (["States.ALL"], then)]
    if not _holds(rest, lambda key, _: key.endswith(".$")):
        return {
            "Parameters": {"TrainingJobName.$": name.json_path, **rest},
            "ResultPath": None,
            "Retry": [_THROTTLED],
            "Catch": [{"ErrorEquals": errors, "ResultPath": "$.error", "Next": state} for errors, state in follows],
            "Next": then,
        }
    if not _holds(rest, lambda _, text: text.startswith("{%") and text.endswith("%}")):
        with_error = "{% $merge([$states.input, {'error': $states.errorOutput}]) %}"
        return {
            "QueryLanguage": "JSONata",
            "Arguments": {"TrainingJobName": name.jsonata, **rest},
            "Output": "{% $states.input %}",
            "Retry": [_THROTTLED],
            "Catch": [{"ErrorEquals": errors, "Output": with_error, "Next": state} for errors, state in follows],
            "Next": then,
        }
    raise NothingToRender(
        "the request has a name that ends in `.$` and a string between `{%` and `%}`: one of them is"
        " an expression in either language of Step Functions"
    )


def _holds(value: object, is_expression: Callable[[str, str], bool], key: str = "") -> bool:
    if isinstance(value, dict):
        return any(is_expression(name, "") or _holds(inner, is_expression, name) for name, inner in value.items())
    if isinstance(value, list):
        return any(_holds(inner, is_expression, key) for inner in value)
    return isinstance(value, str) and is_expression("", value)


_LACKED_HOSTS: list[object] = [
    {
        "Or": [
            {
                "And": [
                    _is("TrainingJobStatus", "Failed"),
                    {"Variable": "$.seen.FailureReason", "IsPresent": True},
                    {"Variable": "$.seen.FailureReason", "StringMatches": "CapacityError*"},
                ]
            },
            _is("SecondaryStatus", "MaxWaitTimeExceeded"),
        ]
    },
    # SageMaker bills from this moment, and two alternatives together would cost more than the dearest one.
    {"Not": {"Variable": "$.seen.TrainingStartTime", "IsPresent": True}},
]
"""Whether a job ended for want of capacity before its instances started; `smspec submit` decides the same."""
