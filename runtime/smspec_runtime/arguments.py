"""Hyperparameters as arguments, in the spec's style."""

import json

from .hyperparameters import Hyperparameters
from .lean_typing import Any, Callable, Dict, List
from .refusal import Refused
from .variables import obstacle_to

Style = Callable[[str, Any, Any], List[str]]
"""Takes a key, its value, and that as written."""


def arguments_of(hyperparameters: Hyperparameters, style: str) -> List[str]:
    user = hyperparameters.user
    names = sorted(user) if style == "toolkit" else user
    found: List[str] = []
    for name in names:
        words = STYLES[style](name, user[name], hyperparameters.written[name])
        if obstacle := obstacle_to(words):
            raise Refused(f"hyperparameter {name[:60]!a} cannot become an argument of the program: {obstacle}")
        found += words
    return found


def _toolkit(key: str, value: Any, _: Any) -> List[str]:
    """Values as Python prints them, as SageMaker does."""
    if isinstance(value, dict):
        value = ",".join(f"{name}={inner}" for name, inner in sorted(value.items()))
    return [("--" if len(key) > 1 else "-" if key else "") + key, "" if value is None else str(value)]


def _json(key: str, value: Any, written: Any) -> List[str]:
    """``--key value`` in file order, values as written, strings bare."""
    return ["--" + key, _spelled(value, written)]


def _flags(key: str, value: Any, written: Any) -> List[str]:
    """As `_json`, but true is ``--key``, false is omitted, and a list is ``--key a b``."""
    if isinstance(value, bool):
        return ["--" + key] * value
    return ["--" + key, *map(_spelled, value)] if isinstance(value, list) else _json(key, value, written)


STYLES: Dict[str, Style] = {"toolkit": _toolkit, "json": _json, "flags": _flags, "none": lambda *_: []}


def _spelled(value: Any, written: Any = None) -> str:
    """A string without its quotes, others as written (`1e-3`)."""
    if isinstance(value, str):
        return value
    return written.strip() if isinstance(written, str) else json.dumps(value)
