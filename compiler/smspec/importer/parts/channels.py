"""Import `channels`: each item of InputDataConfig under its name; members without a key go to `api` of the channel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from smspec.importer.imported_keys import take
from smspec.importer.unmapped_members import UnmappedMembers
from smspec.service.members import repeated
from smspec.spec.keys import ROW, rows_below
from smspec.spec.keys.row import Row

_HERE = "InputDataConfig"
_NAME = "ChannelName"
_S3 = ("DataSource", "S3DataSource")
_FILE_SYSTEM = ("DataSource", "FileSystemDataSource")
_OUTSIDE = 2
"""Members of a channel begin with ``InputDataConfig.*`` in the table."""


def keys(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    """Import the channels if all of them have unique names."""
    listed = rest.members.get(_HERE)
    if isinstance(listed, list) and any(True for _ in repeated(listed, _NAME)):
        return
    channels = rest.structures(lambda channel: isinstance(channel.get(_NAME), str), _HERE)
    if channels:
        yield "channels", {str(channel[_NAME]): _channel(channel) for channel in channels}


def _channel(members: dict[str, object]) -> object:
    rest = UnmappedMembers({name: value for name, value in members.items() if name != _NAME})
    if not rest.has("DataSource"):
        rest.refuse("DataSource")
    channel = {key: value for key, value in _members(rest) if value is not None}
    if rest.members:
        channel["api"] = rest.members
    return channel["s3"] if channel.keys() == {"s3"} else channel


def _members(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
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


def _s3_data_type(rest: UnmappedMembers, row: Row) -> object:
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
