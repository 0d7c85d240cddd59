"""The inputs of a job as channels: the argument of `fit`, and channels that the estimator itself adds."""

from __future__ import annotations

from smspec.importer.sdk.arguments import CHANNEL_MEMBERS, arguments_of
from smspec.importer.sdk.members import put
from smspec.importer.sdk.values import Entries, Instance, Text, Unknown, Value
from smspec.importer.sdk.variables import NotResolved, Variables

_UNNAMED = "training"
_S3 = ("DataSource", "S3DataSource")
_FILES = ("DataSource", "FileSystemDataSource")
_INPUTS = frozenset(("TrainingInput", "s3_input"))


def channels(inputs: Value, variables: Variables) -> list[object]:
    """Return InputDataConfig; raise `NotResolved` if the channels are not known."""
    if inputs is None:
        return []
    if isinstance(inputs, Entries):
        if not inputs.is_known:
            raise NotResolved("a loop, a branch, or another function changes it")
        return [_channel(str(name), value, variables) for name, value in inputs.values.items()]
    if isinstance(inputs, str | Text | Instance) or (isinstance(inputs, Unknown) and inputs.is_text):
        return [_channel(_UNNAMED, inputs, variables)]
    raise NotResolved("its channels are known only when the program runs")


def input_mode(inputs: Value) -> Value:
    """Return the mode of a single input without a name, which becomes that of the job; None without one."""
    return arguments_of(inputs).get("input_mode") if isinstance(inputs, Instance) else None


def _channel(name: str, value: Value, variables: Variables) -> dict[str, object]:
    channel: dict[str, object] = {"ChannelName": name}
    if isinstance(value, Instance):
        if not value.is_known:
            raise NotResolved(f"the channel `{name}` is known only when the program runs")
        kind = value.kind.rpartition(".")[2]
        if kind in _INPUTS:
            return _of_s3(channel, arguments_of(value), variables)
        if kind == "FileSystemInput":
            return _of_file_system(channel, arguments_of(value), variables)
    if isinstance(value, str | Text | Unknown):
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
    if isinstance(shuffle, Instance):
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
