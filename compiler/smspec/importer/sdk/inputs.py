"""The inputs of a job as channels: the argument of `fit`, those that an estimator adds, and those of a `ModelTrainer`.

A `ModelTrainer` has `InputData`, or `Channel` with the members of the API.
"""

from __future__ import annotations

from collections.abc import Sequence

from smspec.importer.imported import NotImported
from smspec.importer.sdk.arguments import CHANNEL_MEMBERS, arguments_of, shape_at, structure
from smspec.importer.sdk.sdk_request import put
from smspec.importer.sdk.values import Entries, SdkInstance, SdkItems, SdkText, SdkUnknown, Value
from smspec.importer.sdk.variables import NotResolved, Variables, entries_of

_UNNAMED = "training"
_S3 = ("DataSource", "S3DataSource")
_FILES = ("DataSource", "FileSystemDataSource")
_INPUTS = frozenset(("TrainingInput", "s3_input"))

_INPUT_UNKNOWN = "its channels are known only when the program runs"
_INPUT = ("channel_name", "data_source", "content_type")
_SOURCES = {"S3DataSource": "S3DataSource", "FileSystemDataSource": "FileSystemDataSource"}
Channel = dict[str, object]


def channels(inputs: Value, variables: Variables) -> tuple[list[object], list[NotImported]]:
    """Return InputDataConfig, and what is not known of it."""
    if inputs is None:
        return [], []
    if isinstance(inputs, str | SdkText | SdkInstance) or (isinstance(inputs, SdkUnknown) and inputs.is_text):
        inputs = Entries({_UNNAMED: inputs})
    known, lost = entries_of(inputs, "inputs")
    found: list[object] = []
    for name, value in known.items():
        try:
            found.append(_channel(name, value, variables))
        except NotResolved as why:
            lost.append(NotImported(("inputs", name), str(why)))
    return found, lost


def input_mode(inputs: Value) -> Value:
    """Return the mode of a single input without a name, which becomes that of the job; None without one."""
    return arguments_of(inputs).get("input_mode") if isinstance(inputs, SdkInstance) else None


def _channel(name: str, value: Value, variables: Variables) -> dict[str, object]:
    channel: dict[str, object] = {"ChannelName": name}
    if isinstance(value, SdkInstance):
        if not value.is_known:
            raise NotResolved(f"the channel `{name}` is known only when the program runs")
        kind = value.kind.rpartition(".")[2]
        if kind in _INPUTS:
            return _of_s3(channel, arguments_of(value), variables)
        if kind == "FileSystemInput":
            return _of_file_system(channel, arguments_of(value), variables)
    if isinstance(value, str | SdkText | SdkUnknown):
        return _of_s3(channel, {"s3_data": value}, variables)
    raise NotResolved(f"the channel `{name}` is known only when the program runs")


def _of_s3(channel: dict[str, object], given: dict[str, Value], variables: Variables) -> dict[str, object]:
    uri = variables.json(given.get("s3_data"), "uri")
    if not isinstance(uri, str):
        raise NotResolved("a channel without a string for its URI")
    if uri.startswith("file://"):
        raise NotResolved("a channel with files of this machine, which only local mode reads")
    put(channel, (*_S3, "S3DataType"), variables.json(given.get("s3_data_type", "S3Prefix"), "s3_data_type"))
    put(channel, (*_S3, "S3Uri"), uri)
    spread = given.get("distribution")
    if spread is None and given.get("instance_groups") is None:
        spread = "FullyReplicated"
    if spread is not None:
        put(channel, (*_S3, "S3DataDistributionType"), variables.json(spread, "distribution_type"))
    for argument, path in CHANNEL_MEMBERS.items():
        if given.get(argument) is not None:
            put(channel, path, variables.json(given[argument], argument))
    shuffle = given.get("shuffle_config")
    if isinstance(shuffle, SdkInstance):
        put(channel, ("ShuffleConfig", "Seed"), variables.json(arguments_of(shuffle).get("seed"), "seed"))
    return channel


def _of_file_system(channel: dict[str, object], given: dict[str, Value], variables: Variables) -> dict[str, object]:
    put(channel, (*_FILES, "FileSystemId"), variables.json(given.get("file_system_id"), "file_system_id"))
    put(channel, (*_FILES, "FileSystemType"), variables.json(given.get("file_system_type"), "file_system_type"))
    put(channel, (*_FILES, "DirectoryPath"), variables.json(given.get("directory_path"), "directory_path"))
    access = given.get("file_system_access_mode", "ro")
    put(channel, (*_FILES, "FileSystemAccessMode"), variables.json(access, "file_system_access_mode"))
    if given.get("content_type") is not None:
        put(channel, ("ContentType",), variables.json(given["content_type"], "content_type"))
    return channel


def trainer_channels(
    listed: Sequence[Value], variables: Variables
) -> tuple[list[Channel], dict[str, str], list[NotImported]]:
    """Return the channels of the trainer and of its call, those whose files the SDK uploads, and what is not known.

    A later channel replaces an earlier one of its name. Uploads: name → path.
    """
    found: dict[str, Channel] = {}
    uploads: dict[str, str] = {}
    lost: list[NotImported] = []
    for items in listed:
        if items is not None and (not isinstance(items, SdkItems) or not items.is_known):
            lost.append(NotImported(("input_data_config",), _INPUT_UNKNOWN))
        for index, item in enumerate(items.values if isinstance(items, SdkItems) else ()):
            try:
                channel = _trainer_channel(item, variables, uploads)
            except NotResolved as why:
                lost.append(NotImported(("input_data_config", index), str(why)))
            else:
                found[str(channel["ChannelName"])] = channel
    return list(found.values()), uploads, lost


def _trainer_channel(item: Value, variables: Variables, uploads: dict[str, str]) -> Channel:
    if not isinstance(item, SdkInstance) or not item.is_known:
        raise NotResolved(_INPUT_UNKNOWN)
    if not item.kind.endswith(".InputData"):
        return structure(item.arguments, shape_at("InputDataConfig", "*"), variables)
    given = {**dict(zip(_INPUT, item.positional, strict=False)), **item.arguments}
    name = given.get("channel_name")
    if not isinstance(name, str):
        raise NotResolved(_INPUT_UNKNOWN)
    channel: Channel = {"ChannelName": name}
    _put_source(channel, name, given.get("data_source"), variables, uploads)
    if given.get("content_type") is not None:
        channel["ContentType"] = variables.json(given["content_type"], "content_type")
    return channel


def _put_source(channel: Channel, name: str, source: Value, variables: Variables, uploads: dict[str, str]) -> None:
    if isinstance(source, SdkInstance):
        member = _SOURCES.get(source.kind.rpartition(".")[2])
        if member is None or not source.is_known:
            raise NotResolved(f"the source of the channel `{name}` is known only when the program runs")
        shape = shape_at("InputDataConfig", "*", "DataSource", member)
        put(channel, ("DataSource", member), structure(source.arguments, shape, variables))
        return
    if isinstance(source, str) and not source.startswith("s3://"):
        uploads[name] = source
        source = SdkUnknown(f"{name}_uri", is_text=True)
    if not isinstance(source, str | SdkText | SdkUnknown):
        raise NotResolved(f"the source of the channel `{name}` is known only when the program runs")
    members = {"S3DataType": "S3Prefix", "S3Uri": variables.json(source, "uri")}
    put(channel, ("DataSource", "S3DataSource"), {**members, "S3DataDistributionType": "FullyReplicated"})
    channel["InputMode"] = "File"
