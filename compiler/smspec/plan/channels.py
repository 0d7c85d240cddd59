"""One channel of the spec as an item of InputDataConfig."""

from __future__ import annotations

from smspec.plan.draft import Draft
from smspec.source import Path
from smspec.spec.model import Channel


def channel_draft(channel: Channel) -> Draft:
    """Return the channel's part of the request, its own `api` patch applied."""
    draft = Draft()
    here: Path = ("channels", channel.name)
    draft.place((), here)
    draft.put(("ChannelName",), channel.name, here)
    draft.names.add(("ChannelName",))
    # Required by the API: a channel without a source has an empty one, which is told as such.
    draft.members["DataSource"] = {}
    draft.place(("DataSource",), here)
    _put_data_source(draft, channel, here)
    draft.put(("ContentType",), channel.content_type, (*here, "content_type"))
    draft.put(("CompressionType",), channel.compression, (*here, "compression"))
    draft.put(("RecordWrapperType",), channel.record_wrapper, (*here, "record_wrapper"))
    draft.put(("InputMode",), channel.input_mode, (*here, "input_mode"))
    draft.put(("ShuffleConfig", "Seed"), channel.shuffle_seed, (*here, "shuffle_seed"))
    draft.patch(channel.api, (*here, "api"))
    return draft


def generated_channel(name: str, uri: str, groups: list[object]) -> dict[str, object]:
    """Return a channel that brings our files to every host.

    ``groups`` are the names of all groups of the job, if any channel names one: the API asks for all or none.
    """
    s3: dict[str, object] = {"S3DataType": "S3Prefix", "S3Uri": uri, "S3DataDistributionType": "FullyReplicated"}
    if groups:
        s3["InstanceGroupNames"] = groups
    return {"ChannelName": name, "DataSource": {"S3DataSource": s3}, "InputMode": "File"}


def _put_data_source(draft: Draft, channel: Channel, here: Path) -> None:
    files = channel.file_system
    if files:
        member = ("DataSource", "FileSystemDataSource")
        draft.place(member, (*here, "file_system"))
        draft.put((*member, "FileSystemId"), files.id, (*here, "file_system", "id"))
        draft.put((*member, "FileSystemAccessMode"), files.access, (*here, "file_system", "access"))
        draft.put((*member, "FileSystemType"), files.type, (*here, "file_system", "type"))
        draft.put((*member, "DirectoryPath"), files.path, (*here, "file_system", "path"))
    if files and channel.s3 is None:
        return
    s3 = ("DataSource", "S3DataSource")
    draft.place(s3, here)
    if channel.s3 is not None or channel.s3_data_type != "S3Prefix":
        draft.put((*s3, "S3DataType"), channel.s3_data_type, (*here, "s3_data_type"))
    draft.put((*s3, "S3Uri"), channel.s3, (*here, "s3"))
    draft.put((*s3, "S3DataDistributionType"), channel.distribution, (*here, "distribution"))
    for member_name, names, key in (
        ("AttributeNames", channel.attributes, "attributes"),
        ("InstanceGroupNames", channel.instance_groups, "instance_groups"),
    ):
        draft.put((*s3, member_name), names, (*here, key))
        for index in range(len(names)):
            draft.place((*s3, member_name, index), (*here, key, index))
