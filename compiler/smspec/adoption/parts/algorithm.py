"""`role`, `image`, `entry_point`, `input_mode` and `metrics`: who runs what."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.adoption.remainder import Remainder
from smspec.spec.model import InputMode

_HERE = "AlgorithmSpecification"
_RESERVED = "sagemaker_"
_METRIC = {"Name", "Regex"}


def keys(rest: Remainder) -> Iterator[tuple[str, object]]:
    """Take the role, the image and what it is told."""
    role = rest.text("RoleArn")
    if role is not None:
        yield "role", role
    image = rest.text(_HERE, "TrainingImage")
    if image is not None:
        yield "image", image
        yield from _command(rest)
    if image is not None or not rest.has("ServerlessJobConfig"):
        yield from _mode(rest)
    metrics = rest.structures(_is_metric, _HERE, "MetricDefinitions")
    if metrics:
        yield "metrics", [{"name": metric["Name"], "regex": metric["Regex"]} for metric in metrics]


def _command(rest: Remainder) -> Iterator[tuple[str, object]]:
    parameters = rest.members.get("HyperParameters")
    if isinstance(parameters, dict) and any(name.startswith(_RESERVED) for name in parameters):
        return  # A job with an entry point may not name those itself.
    command = rest.texts(_HERE, "ContainerEntrypoint")
    if command:
        yield "entry_point", {"command": command}


def _mode(rest: Remainder) -> Iterator[tuple[str, object]]:
    mode = rest.word(InputMode, _HERE, "TrainingInputMode")
    if mode is None:
        if rest.has(_HERE) and not rest.has(_HERE, "TrainingInputMode"):
            rest.refuse(_HERE, "TrainingInputMode")
    elif mode != "File":
        yield "input_mode", mode


def _is_metric(value: dict[str, object]) -> bool:
    return value.keys() == _METRIC and all(isinstance(text, str) for text in value.values())
