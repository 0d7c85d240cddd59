"""The arguments that are made of hyperparameters, in the style that the job spec names."""

import json

from .hyperparameters import Hyperparameters
from .lean_typing import Any, Callable, Dict, List

Style = Callable[[Hyperparameters], List[str]]


def toolkit(hyperparameters: Hyperparameters) -> List[str]:
    """SageMaker's own way: sorted, every key with one value, values as Python shows them."""
    arguments = []
    for key, value in sorted(hyperparameters.user.items()):
        arguments.append(("--" if len(key) > 1 else "-" if key else "") + key)
        if isinstance(value, dict):
            arguments.append(",".join(f"{name}={inner}" for name, inner in sorted(value.items())))
        else:
            arguments.append("" if value is None else str(value))
    return arguments


def as_json(hyperparameters: Hyperparameters) -> List[str]:
    """``--key value`` in the order of the file, values as JSON and as they were written, strings bare."""
    arguments = []
    for key, value in hyperparameters.user.items():
        arguments += ["--" + key, _spelled(value, hyperparameters.written[key])]
    return arguments


def as_flags(hyperparameters: Hyperparameters) -> List[str]:
    """As `as_json`, but true is ``--key``, false is left out, and a list is ``--key a b``."""
    arguments = []
    for key, value in hyperparameters.user.items():
        if value is False:
            continue
        arguments.append("--" + key)
        if isinstance(value, list):
            arguments += map(_spelled, value)
        elif value is not True:
            arguments.append(_spelled(value, hyperparameters.written[key]))
    return arguments


STYLES: Dict[str, Style] = {"toolkit": toolkit, "json": as_json, "flags": as_flags, "none": lambda _: []}


def _spelled(value: Any, written: Any = None) -> str:
    """Return a string without its quotes, all else as its author spelled it (`1e-3`)."""
    if isinstance(value, str):
        return value
    return written.strip() if isinstance(written, str) else json.dumps(value)
