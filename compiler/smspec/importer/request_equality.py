"""Compare requests: two of them, or the one that a spec renders with the one that the SDK sends."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from smspec.importer.imported import Imported
from smspec.importer.marks import filled
from smspec.source import Path
from smspec_runtime.run_plan import CODE_CHANNEL, RUNTIME_CHANNEL

_RESERVED = "sagemaker_"
_COMMAND = ("ContainerEntrypoint", "ContainerArguments")
_CHANNELS = (CODE_CHANNEL, RUNTIME_CHANNEL)


def differences(one: object, other: object, path: Path = ()) -> Iterator[Path]:
    """Yield the paths where two JSON values differ; unlike in Python, 1 differs from true and from 1.0."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in dict.fromkeys((*one, *other)):
            if name in one and name in other:
                yield from differences(one[name], other[name], (*path, name))
            else:
                yield (*path, name)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from differences(first, second, (*path, index))
    elif type(one) is not type(other) or one != other:
        yield path


def expected_request(imported: Imported, rendered: Mapping[str, object]) -> dict[str, object]:
    """Return the request that the spec must render, with placeholders for variables.

    What keys of the spec add is that of the rendered request: the hyperparameters of the toolkit, and the registry and
    the whole tag of an image that has a short name.
    """
    values = {each.name: each.placeholder for each in imported.variables}
    expected = filled(imported.request, values)
    assert isinstance(expected, dict)
    parameters = _mapping(expected, "HyperParameters")
    sent = _mapping(rendered, "HyperParameters")
    if imported.keys:
        parameters = {**parameters, **{name: sent[name] for name in sent if name.startswith(_RESERVED)}}
        parameters.update(_mapping(filled(imported.patch, values), "HyperParameters"))
    if parameters:
        expected["HyperParameters"] = {name: _sent(value) for name, value in parameters.items()}
    if _mapping(imported.keys, "source").get("delivery") == "channel":
        _add_runtime(expected, rendered)
    algorithm = _mapping(expected, "AlgorithmSpecification")
    image, uri = algorithm.get("TrainingImage"), _mapping(rendered, "AlgorithmSpecification").get("TrainingImage")
    is_short = isinstance(image, str) and "/" not in image and isinstance(uri, str)
    if is_short and str(uri).rpartition("/")[2].partition(":")[0] == str(image).partition(":")[0]:
        expected["AlgorithmSpecification"] = {**algorithm, "TrainingImage": uri}
    return expected


def _add_runtime(expected: dict[str, object], rendered: Mapping[str, object]) -> None:
    """Add the channels with the code and the runtime, and the command that starts it."""
    own = {name: _mapping(rendered, "AlgorithmSpecification").get(name) for name in _COMMAND}
    algorithm = _mapping(expected, "AlgorithmSpecification")
    expected["AlgorithmSpecification"] = {**algorithm, **{name: value for name, value in own.items() if value}}
    added = [channel for channel in _channels(rendered) if channel.get("ChannelName") in _CHANNELS]
    expected["InputDataConfig"] = [*_channels(expected), *added]


def _channels(request: Mapping[str, object]) -> list[dict[str, object]]:
    listed = request.get("InputDataConfig")
    return [channel for channel in listed if isinstance(channel, dict)] if isinstance(listed, list) else []


def _mapping(value: object, name: str) -> dict[str, object]:
    inner = value.get(name) if isinstance(value, Mapping) else None
    return dict(inner) if isinstance(inner, dict) else {}


def _sent(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)
