"""Keeps out of a run's summary and report what the runtime keeps out of the failure file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from smspec.local.training_request import TrainingRequest
from smspec_runtime.masking import masked_text, secret_arguments, secret_values, secret_variables


def redactor(request: TrainingRequest, inherited: Mapping[str, str], arguments: Sequence[str]) -> Callable[[str], str]:
    """Return what masks the values of a job's hyperparameters, variables, and arguments with the name of a secret."""
    hyperparameters = {name: _decoded(value) for name, value in request.hyperparameters.items()}
    secrets = [*secret_values(hyperparameters), *secret_variables({**inherited, **request.environment})]
    secrets += secret_arguments(arguments)
    return lambda text: masked_text(text, secrets)


def _decoded(value: str) -> object:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
