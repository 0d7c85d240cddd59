"""The `secrets` of a request, which the smspec runtime fetches: settings in a hyperparameter of smspec."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache

from smspec.service.launcher_settings import SETTINGS
from smspec.service.members import structure
from smspec.service.request import Request
from smspec.source import Path

_SECRETS = "secrets"


def has_secret_settings(hyperparameters: dict[str, object]) -> bool:
    """Return whether there may be secrets; reading them costs more, and few jobs have any."""
    return f'"{_SECRETS}"' in _settings(hyperparameters)


def secret_settings(request: Request) -> Mapping[str, str]:
    """Return the ARN of each variable; empty if there is none, or if the settings cannot be read."""
    return _read(_settings(structure(request.payload, "HyperParameters")))


def secret_path(variable: str) -> Path:
    """Return the path of a secret inside of the hyperparameter."""
    return ("HyperParameters", SETTINGS, _SECRETS, variable)


@lru_cache(maxsize=256)  # every rule reads them
def _read(settings: str) -> Mapping[str, str]:
    try:
        secrets = structure(json.loads(settings), _SECRETS)
    except (ValueError, RecursionError):
        return {}
    return {name: text if isinstance(text, str) else json.dumps(text) for name, text in secrets.items()}


def _settings(hyperparameters: dict[str, object]) -> str:
    """Return the settings, which long ones continue in further hyperparameters."""
    if SETTINGS not in hyperparameters:
        return ""
    names = [SETTINGS, *(f"{SETTINGS}_{part}" for part in range(1, len(hyperparameters)))]
    return "".join(str(hyperparameters[name]) for name in names if name in hyperparameters)
