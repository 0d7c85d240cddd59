"""The channels of a `ModelTrainer`: `InputData`, or `Channel` with the members of the API."""

from __future__ import annotations

from collections.abc import Sequence

from smspec.importer.sdk.members import put
from smspec.importer.sdk.shapes import shape_at, structure
from smspec.importer.sdk.values import Instance, Items, Text, Unknown, Value
from smspec.importer.sdk.variables import NotResolved, Variables

_NOT_KNOWN = "its channels are known only when the program runs"
_INPUT = ("channel_name", "data_source", "content_type")
_SOURCES = {"S3DataSource": "S3DataSource", "FileSystemDataSource": "FileSystemDataSource"}
Channel = dict[str, object]


def trainer_channels(listed: Sequence[Value], variables: Variables) -> tuple[list[Channel], dict[str, str]]:
    """Return the channels of the trainer and of its call, and those whose files the SDK uploads: name → path.

    A later channel replaces an earlier one of its name. Raise `NotResolved` if the channels are not known.
    """
    found: dict[str, Channel] = {}
    uploads: dict[str, str] = {}
    for items in listed:
        if items is None:
            continue
        if not isinstance(items, Items) or not items.is_known:
            raise NotResolved(_NOT_KNOWN)
        for item in items.values:
            channel = _channel(item, variables, uploads)
            found[str(channel["ChannelName"])] = channel
    return list(found.values()), uploads


def _channel(item: Value, variables: Variables, uploads: dict[str, str]) -> Channel:
    if not isinstance(item, Instance) or not item.is_known:
        raise NotResolved(_NOT_KNOWN)
    if not item.kind.endswith(".InputData"):
        return structure(item.arguments, shape_at("InputDataConfig", "*"), variables)
    given = {**dict(zip(_INPUT, item.positional, strict=False)), **item.arguments}
    name = given.get("channel_name")
    if not isinstance(name, str):
        raise NotResolved(_NOT_KNOWN)
    channel: Channel = {"ChannelName": name}
    _put_source(channel, name, given.get("data_source"), variables, uploads)
    if given.get("content_type") is not None:
        channel["ContentType"] = variables.json(given["content_type"], "content_type")
    return channel


def _put_source(channel: Channel, name: str, source: Value, variables: Variables, uploads: dict[str, str]) -> None:
    if isinstance(source, Instance):
        member = _SOURCES.get(source.kind.rpartition(".")[2])
        if member is None or not source.is_known:
            raise NotResolved(f"the source of the channel `{name}` is known only when the program runs")
        shape = shape_at("InputDataConfig", "*", "DataSource", member)
        put(channel, ("DataSource", member), structure(source.arguments, shape, variables))
        return
    if isinstance(source, str) and not source.startswith("s3://"):
        uploads[name] = source
        source = Unknown(f"{name}_uri", is_text=True)
    if not isinstance(source, str | Text | Unknown):
        raise NotResolved(f"the source of the channel `{name}` is known only when the program runs")
    members = {"S3DataType": "S3Prefix", "S3Uri": variables.json(source, "uri")}
    put(channel, ("DataSource", "S3DataSource"), {**members, "S3DataDistributionType": "FullyReplicated"})
    channel["InputMode"] = "File"
