"""Rules about channels, except for what Pipe mode needs."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.suggestions import nearest, spelling_fix
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, PipeLoopEntry

RESERVED_CHANNEL = Rule("SM318", "reserved channel")

RESERVED = ("code", "sm_drivers", "smspec")


def reserved_channel(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject the names of generated channels where the job has any.

    The source and the runtime use channels of their own, with reserved names.
    """
    if job.delivery != "channel":
        return
    for channel in job.channels:
        if channel.name in RESERVED:
            yield RESERVED_CHANNEL.at(
                ("channels", channel.name),
                f"channel name `{channel.name}` is reserved with `source.delivery: channel`",
                help="rename the channel, or use a different `source.delivery`",
                on="key",
            )


CHANNELS_WITH_THE_SAME_VARIABLE = Rule("SM375", "channels with the same variable")


def channels_with_the_same_variable(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject channels whose names differ only in case.

    A script finds a channel through SM_CHANNEL_NAME, with the name in upper case: two channels can share a variable.
    """
    first: dict[str, str] = {}
    for channel in job.channels:
        other = first.setdefault(channel.name.upper(), channel.name)
        if other != channel.name:
            yield CHANNELS_WITH_THE_SAME_VARIABLE.at(
                ("channels", channel.name),
                f"channels `{channel.name}` and `{other}` share the variable `SM_CHANNEL_{channel.name.upper()}`",
                help="rename one of them: the names must differ in more than case",
                on="key",
            )


S3_KEYS_ON_A_FILE_SYSTEM_CHANNEL = Rule("SM324", "S3 keys on a file system channel")


def s3_keys_on_a_file_system_channel(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject keys that apply only to S3 objects; the request has no member for them.

    A file system is mounted: nothing is listed, sharded, or shuffled.
    """
    for channel in job.channels:
        if channel.file_system is None or channel.s3 is not None:
            continue
        for key, is_written in (
            ("s3_data_type", channel.s3_data_type != "S3Prefix"),
            ("attributes", bool(channel.attributes)),
            ("distribution", channel.distribution is not None),
            ("instance_groups", bool(channel.instance_groups)),
        ):
            if is_written:
                yield S3_KEYS_ON_A_FILE_SYSTEM_CHANNEL.at(
                    ("channels", channel.name, key),
                    f"`channels.{channel.name}.{key}` cannot be combined with `file_system`",
                    help="remove the key",
                    on="key",
                )


VIEW_OF_AN_UNKNOWN_CHANNEL = Rule("SM321", "view of an unknown channel", needs_every_layer=True)


def view_of_an_unknown_channel(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a view of a channel that the job does not have.

    `read` sets how channels are read.
    """
    if not isinstance(job.entry_point, PipeLoopEntry):
        return
    names = [channel.name for channel in job.channels]
    for name in job.entry_point.read:
        if name not in names:
            near = nearest(name, names)
            yield VIEW_OF_AN_UNKNOWN_CHANNEL.at(
                ("entry_point", "read", name),
                f"`entry_point.read` names the unknown channel `{name}`",
                label=f"did you mean `{near}`?" if near else "",
                on="key",
                fix=spelling_fix(name, names),
            )


VIEW_OF_A_CHANNEL_WITHOUT_A_STREAM = Rule("SM322", "view of a channel without a stream", needs_every_layer=True)


def view_of_a_channel_without_a_stream(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a view of a channel in File or FastFile mode.

    Only a Pipe channel is a stream.
    """
    if not isinstance(job.entry_point, PipeLoopEntry):
        return
    # Where no channel is a stream, the pipe loop itself is reported.
    if all(job.mode_of(channel) != "Pipe" for channel in job.channels):
        return
    for channel in job.channels:
        if channel.name in job.entry_point.read and job.mode_of(channel) != "Pipe":
            yield VIEW_OF_A_CHANNEL_WITHOUT_A_STREAM.at(
                ("entry_point", "read", channel.name),
                f"`entry_point.read.{channel.name}` requires Pipe mode, but the mode is {job.mode_of(channel)}",
                help="set `input_mode: Pipe` for the channel, or remove it from `entry_point.read`",
                on="key",
            )


AUGMENTED_VIEW_OF_OTHER_DATA = Rule("SM325", "augmented view of other data", needs_every_layer=True)


def augmented_view_of_other_data(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject the view `augmented` of anything except an augmented manifest in RecordIO.

    The `augmented` view combines records with attribute names, so it needs both.
    """
    if not isinstance(job.entry_point, PipeLoopEntry):
        return
    for channel in job.channels:
        if job.entry_point.read.get(channel.name) != "augmented":
            continue
        lacks_names = channel.s3_data_type != "AugmentedManifestFile"
        if lacks_names or channel.record_wrapper != "RecordIO":
            wanted = "s3_data_type: AugmentedManifestFile" if lacks_names else "record_wrapper: RecordIO"
            yield AUGMENTED_VIEW_OF_OTHER_DATA.at(
                ("entry_point", "read", channel.name),
                f"`entry_point.read.{channel.name}` is `augmented`, but the channel is not an augmented manifest",
                help=f"add `{wanted}` to `channels.{channel.name}`",
            )


RULES = (
    reserved_channel,
    channels_with_the_same_variable,
    s3_keys_on_a_file_system_channel,
    view_of_an_unknown_channel,
    view_of_a_channel_without_a_stream,
    augmented_view_of_other_data,
)
