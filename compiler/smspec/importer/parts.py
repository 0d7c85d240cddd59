"""The functions that import irregular keys of a request; all others are imported as the table of keys defines.

A part imports only what its keys express exactly, and returns the keys that it writes for that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import cast, get_args

from smspec.diagnostics.quoting import duration
from smspec.importer.marks import bare, holds_mark, node, text
from smspec.importer.unmapped_members import UnmappedMembers, take, taken
from smspec.plan.draft import encoded
from smspec.plan.request_planning import ONE_DAY
from smspec.service.shapes import repeated
from smspec.source import Node, Scalar, to_data
from smspec.spec.keys import ROW, rows_below
from smspec.spec.keys.row import KeyRow
from smspec.spec.model import Hyperparameter, HyperparameterEncoding
from smspec.spec.yaml.events import meaning

_ALGORITHM = "AlgorithmSpecification"
_RESERVED = "sagemaker_"

_TAG = {"Key", "Value"}

_LIMITS = "StoppingCondition"
_SPOT = "EnableManagedSpotTraining"

_WORDS = {math.inf: ".inf", -math.inf: "-.inf"}

_INPUTS = "InputDataConfig"
_NAME = "ChannelName"
_S3 = ("DataSource", "S3DataSource")
_FILE_SYSTEM = ("DataSource", "FileSystemDataSource")
_OUTSIDE = 2
"""Members of a channel begin with ``InputDataConfig.*`` in the table."""

Part = Callable[[UnmappedMembers], Iterator["tuple[str, object]"]]


def image_keys(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    """Import the image, its arguments, and the input mode, which a spec of a serverless job does not send."""
    image = rest.text(_ALGORITHM, "TrainingImage")
    if image is not None:
        yield "image", image
        yield from _command(rest)
    if image is not None or not rest.has("ServerlessJobConfig"):
        yield from _mode(rest)


def _command(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    parameters = rest.members.get("HyperParameters")
    if isinstance(parameters, dict) and any(name.startswith(_RESERVED) for name in parameters):
        return  # A job with an entry point may not name those itself.
    command = rest.texts(_ALGORITHM, "ContainerEntrypoint")
    if command:
        yield "entry_point", {"command": command}


def _mode(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    row = ROW["input_mode"]
    mode = take(rest, row)
    if mode is None:
        if rest.has(_ALGORITHM) and not rest.has(*row.steps):
            rest.refuse(*row.steps)
    elif mode != "File":
        yield row.path, mode


def host_keys(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    """Import the hosts.

    If the request sets only members without a key, write an empty key, because a job requires it.
    """
    if rest.has("ResourceConfig"):
        yield "hosts", take(rest, ROW["hosts"]) or {}


def tag_keys(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    """Import the tags if their keys are unique."""
    listed = rest.members.get("Tags")
    if isinstance(listed, list) and any(True for _ in repeated(listed, "Key")):
        return
    tags = rest.structures(_is_tag, "Tags")
    if tags:
        yield "tags", {str(tag["Key"]): tag["Value"] for tag in tags}


def _is_tag(value: dict[str, object]) -> bool:
    is_plain = value.keys() == _TAG and all(isinstance(text, str) for text in value.values())
    return is_plain and not holds_mark(str(value["Key"]))  # a key of a spec contains no variable


def stopping_keys(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    """Import the time limits, and managed spot training if the request enables it."""
    yield from _stopping(rest)
    if rest.members.get(_SPOT) is True:
        del rest.members[_SPOT]
        yield "spot", taken(rest, rows_below("spot"))


def _stopping(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    limits = rest.members.get(_LIMITS)
    if isinstance(limits, dict):
        if not limits:
            del rest.members[_LIMITS]
        written = taken(rest, rows_below("stopping"))
        # Do not write what is the default.
        if written != {"max_runtime": duration(ONE_DAY)}:
            yield "stopping", written
    elif limits is None:
        rest.refuse(_LIMITS)


def hyperparameter_keys(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    """Import all hyperparameters, or none."""
    texts = take(rest, ROW["hyperparameters"])
    if not isinstance(texts, dict):
        return
    # `raw` can express every string, so the last encoding always fits.
    for encoding in get_args(HyperparameterEncoding):
        values = {name: _hyperparameter(value, encoding) for name, value in texts.items()}
        if all(value is not None for value in values.values()):
            yield "hyperparameters", values
            if encoding != "json":
                yield "hyperparameter_encoding", encoding
            return


def _hyperparameter(sent: str, encoding: HyperparameterEncoding) -> Node | None:
    """Return the value that is sent as this string, None if there is none."""
    return next((value for value in _candidates(sent, encoding) if _is_sent_as(value, sent, encoding)), None)


def _candidates(sent: str, encoding: HyperparameterEncoding) -> Iterator[Node]:
    """Yield possible values, the simplest first."""
    if encoding == "raw":
        if isinstance(meaning(sent), int | float):
            yield bare(sent)
        yield text(sent)
        return
    try:
        decoded = json.loads(sent)
    except (ValueError, RecursionError):
        yield text(sent)
        return
    if isinstance(decoded, str):
        # Quoted in the spec because it is quoted in the request: the script gets a string that looks like something
        # else.
        yield text(decoded)
    elif isinstance(decoded, bool | int | float):
        yield bare(sent)
        yield bare(_WORDS.get(decoded, ".nan") if isinstance(decoded, float) else sent)
    elif decoded and not _holds_null(decoded):
        yield node(decoded)


def _is_sent_as(value: Node, sent: str, encoding: HyperparameterEncoding) -> bool:
    if isinstance(value, Scalar):
        if value.value is None:
            return False
        parameter = Hyperparameter(name="", value=value.value, text=value.text, quoted=not value.plain)
    else:
        parameter = Hyperparameter(name="", value=to_data(value))
    return encoded(parameter, encoding) == sent


def _holds_null(value: object) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(map(_holds_null, inner))


def channel_keys(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    """Import the channels if all of them have unique names."""
    listed = rest.members.get(_INPUTS)
    if isinstance(listed, list) and any(True for _ in repeated(listed, _NAME)):
        return
    channels = rest.structures(lambda channel: isinstance(channel.get(_NAME), str), _INPUTS)
    if channels:
        yield "channels", {str(channel[_NAME]): _channel(channel) for channel in channels}


def _channel(members: dict[str, object]) -> object:
    rest = UnmappedMembers({name: value for name, value in members.items() if name != _NAME})
    if not rest.has("DataSource"):
        rest.refuse("DataSource")
    channel = {key: value for key, value in _channel_members(rest) if value is not None}
    if rest.members:
        channel["api"] = rest.members
    return channel["s3"] if channel.keys() == {"s3"} else channel


def _channel_members(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    """Yield the value of each key of a channel, in the order of the table."""
    has_uri = rest.has(*_S3, "S3Uri")
    uri = take(rest, ROW["channels.*.s3"], _OUTSIDE)
    for row in rows_below("channels.*"):
        if row.name == "s3":
            yield row.name, uri
        elif row.name == "file_system":
            yield row.name, None if has_uri else _file_system(rest)
        elif row.name == "s3_data_type":
            yield row.name, None if uri is None else _s3_data_type(rest, row)
        elif row.member and (uri is not None or row.steps[_OUTSIDE:][:2] != _S3):
            yield row.name, take(rest, row, _OUTSIDE)


def _s3_data_type(rest: UnmappedMembers, row: KeyRow) -> object:
    kind = take(rest, row, _OUTSIDE)
    if kind is None and not rest.has(*_S3, "S3DataType"):
        rest.refuse(*_S3, "S3DataType")
    return None if kind == "S3Prefix" else kind


def _file_system(rest: UnmappedMembers) -> dict[str, object] | None:
    """Import a file system if its key can express all of it."""
    members = rest.at(_FILE_SYSTEM)
    row = ROW["channels.*.file_system"]
    if not isinstance(members, dict) or len(members) != len(rows_below(row.path)):
        return None
    return cast("dict[str, object] | None", take(rest, row, _OUTSIDE))


PARTS: dict[str, Part] = {
    "image": image_keys,
    "channels": channel_keys,
    "hosts": host_keys,
    "hyperparameters": hyperparameter_keys,
    "stopping": stopping_keys,
    "tags": tag_keys,
}
"""Top-level key of a spec → the function that imports it, and adjacent keys that depend on it."""
