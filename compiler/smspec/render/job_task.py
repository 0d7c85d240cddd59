"""The request and error handlers of a Task state of Step Functions, in whichever language finds no code in them."""

from __future__ import annotations

from collections.abc import Callable

from smspec.render.rendering import NothingToRender
from smspec.source.frozen import dataclass

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
