"""Mask in a run's summary and report what the runtime masks in the failure file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from smspec.local.running.training_request import TrainingRequest
from smspec_runtime.masking import (
    MASK,
    fetched_values,
    is_secret,
    masked_text,
    secret_arguments,
    secret_values,
    secret_variables,
)


def redactor(
    request: TrainingRequest, inherited: Mapping[str, str], arguments: Sequence[str], fetched: Iterable[str] = ()
) -> Callable[[str], str]:
    """Return a function that masks the values of hyperparameters, variables, and arguments with secret names.

    The variables ``fetched`` are secret whatever their names are.
    """
    named = {name: _decoded(value) for name, value in request.hyperparameters.items()}
    secrets = [*secret_values(named), *secret_variables({**inherited, **request.environment})]
    secrets += fetched_values([inherited.get(name, "") for name in fetched])
    secrets += secret_arguments(arguments)
    return lambda text: masked_text(text, secrets)


def shown_hyperparameters(request: TrainingRequest, hide: Callable[[str], str]) -> dict[str, str]:
    """Return the hyperparameters of a job by name, secrets masked; whatever has the name of a secret is one."""
    named = sorted(request.hyperparameters.items())
    return {name: MASK if is_secret(name) else hide(value) for name, value in named}


def value_redactor(values: Sequence[str]) -> Callable[[str], str]:
    """Return a function that masks values that are secrets whatever their names are."""
    return lambda text: masked_text(text, values)


def _decoded(value: str) -> object:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
