"""One channel of the spec as an item of InputDataConfig."""

from __future__ import annotations

from smspec.plan.draft import Draft
from smspec.plan.sent_keys import put_keys, sent_keys
from smspec.source import Path
from smspec.spec.keys import ROW
from smspec.spec.model import Channel

_S3 = ("DataSource", "S3DataSource")
_OUTSIDE = 2
"""Members of a channel begin with ``InputDataConfig.*`` in the table."""


def channel_draft(channel: Channel) -> Draft:
    """Return the channel's part of the request, its own `api` patch applied."""
    draft = Draft()
    here: Path = ("channels", channel.name)
    draft.place((), here)
    draft.put(("ChannelName",), channel.name, here)
    draft.names.add(("ChannelName",))
    # Required by the API: a channel without a source has an empty one, which is reported as such.
    draft.members["DataSource"] = {}
    draft.place(("DataSource",), here)
    keys = sent_keys("channels.*", _OUTSIDE)
    if channel.file_system:
        draft.place(ROW["channels.*.file_system"].steps[_OUTSIDE:], (*here, "file_system"))
        file_system = sent_keys("channels.*.file_system", _OUTSIDE)
        put_keys(draft, file_system, channel.file_system, (*here, "file_system"))
    if channel.file_system and channel.s3 is None:
        keys = tuple(key for key in keys if key.member[:2] != _S3)
    else:
        draft.place(_S3, here)
        if channel.s3 is not None or channel.s3_data_type != "S3Prefix":
            draft.put((*_S3, "S3DataType"), channel.s3_data_type, (*here, "s3_data_type"))
    put_keys(draft, keys, channel, here)
    draft.patch(channel.api, (*here, "api"))
    return draft


def generated_channel(name: str, uri: str, groups: list[object]) -> dict[str, object]:
    """Return a channel that delivers generated files to every host.

    ``groups`` are the names of all groups of the job, if any channel names one: the API asks for all or none.
    """
    s3: dict[str, object] = {"S3DataType": "S3Prefix", "S3Uri": uri, "S3DataDistributionType": "FullyReplicated"}
    if groups:
        s3["InstanceGroupNames"] = groups
    return {"ChannelName": name, "DataSource": {"S3DataSource": s3}, "InputMode": "File"}
