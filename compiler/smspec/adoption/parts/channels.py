"""`channels`: each item of InputDataConfig under its name; what has no key goes to the `api` of its channel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from smspec.adoption.remainder import Remainder
from smspec.service.members import repeated
from smspec.spec.model import (
    Compression,
    FileSystemAccess,
    FileSystemType,
    InputMode,
    RecordWrapper,
    S3DataDistribution,
    S3DataType,
)

_HERE = "InputDataConfig"
_NAME = "ChannelName"
_S3 = ("DataSource", "S3DataSource")
_FILE_SYSTEM = ("DataSource", "FileSystemDataSource")
_FILE_SYSTEM_KEYS = {
    "id": "FileSystemId",
    "type": "FileSystemType",
    "path": "DirectoryPath",
    "access": "FileSystemAccessMode",
}


def keys(rest: Remainder) -> Iterator[tuple[str, object]]:
    """Take the channels if all of them have names of their own."""
    listed = rest.members.get(_HERE)
    if isinstance(listed, list) and any(True for _ in repeated(listed, _NAME)):
        return
    channels = rest.structures(lambda channel: isinstance(channel.get(_NAME), str), _HERE)
    if channels:
        yield "channels", {str(channel[_NAME]): _channel(channel) for channel in channels}


def _channel(members: dict[str, object]) -> object:
    rest = Remainder({name: value for name, value in members.items() if name != _NAME})
    if not rest.has("DataSource"):
        rest.refuse("DataSource")
    channel = {key: value for key, value in _members(rest) if value is not None}
    if rest.members:
        channel["api"] = rest.members
    return channel["s3"] if channel.keys() == {"s3"} else channel


def _members(rest: Remainder) -> Iterator[tuple[str, object]]:
    if not rest.has(*_S3, "S3Uri"):
        yield "file_system", _file_system(rest)
    uri = rest.text(*_S3, "S3Uri")
    if uri is not None:
        yield "s3", uri
        yield from _s3_members(rest)
    yield "input_mode", rest.word(InputMode, "InputMode")
    yield "content_type", rest.text("ContentType")
    yield "compression", rest.word(Compression, "CompressionType")
    yield "record_wrapper", rest.word(RecordWrapper, "RecordWrapperType")
    yield "shuffle_seed", rest.number("ShuffleConfig", "Seed")


def _s3_members(rest: Remainder) -> Iterator[tuple[str, object]]:
    kind = rest.word(S3DataType, *_S3, "S3DataType")
    if kind is None and not rest.has(*_S3, "S3DataType"):
        rest.refuse(*_S3, "S3DataType")
    yield "s3_data_type", None if kind == "S3Prefix" else kind
    yield "attributes", rest.texts(*_S3, "AttributeNames")
    yield "distribution", rest.word(S3DataDistribution, *_S3, "S3DataDistributionType")
    yield "instance_groups", rest.texts(*_S3, "InstanceGroupNames")


def _file_system(rest: Remainder) -> dict[str, str] | None:
    """Take a file system that is all that its key says."""
    return rest.take(_FILE_SYSTEM, _is_file_system, _file_system_keys)


def _file_system_keys(members: dict[str, str]) -> dict[str, str]:
    return {key: members[member] for key, member in _FILE_SYSTEM_KEYS.items()}


def _is_file_system(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == set(_FILE_SYSTEM_KEYS.values())
        and all(isinstance(text, str) for text in value.values())
        and value["FileSystemType"] in get_args(FileSystemType)
        and value["FileSystemAccessMode"] in get_args(FileSystemAccess)
    )
