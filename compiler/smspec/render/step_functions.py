"""The job as a state of AWS Step Functions that starts it and waits for its end."""

from __future__ import annotations

import json
from collections.abc import Callable

from smspec.render.rendering import NothingToRender, Rendering
from smspec.service.arns import parsed_arn

_FIXED_NAME = (
    "the job has a fixed name, and SageMaker accepts a name once: to run the state machine more than once, set"
    ' the name from its input: `"TrainingJobName.$": "$.job_name"`'
)


def step_functions(payload: dict[str, object]) -> Rendering:
    """Return a Task state in JSON. Raise `NothingToRender` if the language would read a string as an expression."""
    role = parsed_arn(payload.get("RoleArn"))
    partition = role.partition if role else "aws"
    state: dict[str, object] = {
        "Type": "Task",
        "Resource": f"arn:{partition}:states:::sagemaker:createTrainingJob.sync",
        **_arguments(payload),
        "End": True,
    }
    return Rendering(text=json.dumps(state, indent=2) + "\n", notes=(_FIXED_NAME,))


def _arguments(payload: dict[str, object]) -> dict[str, object]:
    """Return the request for the language in which nothing in it is an expression.

    In JSONPath, the default, a key that ends in `.$` is one; in JSONata a text between `{%` and `%}`.
    """
    if not _holds(payload, lambda key, _: key.endswith(".$")):
        return {"Parameters": payload}
    if not _holds(payload, lambda _, text: text.startswith("{%") and text.endswith("%}")):
        return {"QueryLanguage": "JSONata", "Arguments": payload}
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
