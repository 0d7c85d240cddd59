"""Rules about channels, and about Pipe mode and the pipe loop."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.suggestions import did_you_mean, spelling_fix
from smspec.source import Listing
from smspec.spec.model import JobSpec, Mpi, PipeLoopEntry, SmDataParallel, Torchrun

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
            yield VIEW_OF_AN_UNKNOWN_CHANNEL.at(
                ("entry_point", "read", name),
                f"`entry_point.read` names the unknown channel `{name}`",
                label=did_you_mean(name, names),
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


AUGMENTED_VIEW_OF_OTHER_DATA = Rule("SM325", "augmented view of other data", needs_every_layer=True, instead_of="SM820")


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


PIPE_LOOP_WITH_DISTRIBUTION = Rule("SM301", "pipe loop with distribution")


def pipe_loop_with_distribution(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a launcher around the pipe loop, which runs once per host.

    A FIFO has one reader, but a launcher would start several.
    """
    if isinstance(job.entry_point, PipeLoopEntry) and job.distribution is not None:
        yield PIPE_LOOP_WITH_DISTRIBUTION.at(
            ("distribution",),
            "`distribution` cannot be combined with `entry_point.pipe_loop`",
            help="remove `distribution`, or use a `script` with channels in FastFile mode",
            on="key",
        )


PIPE_LOOP_WITHOUT_A_PIPE_CHANNEL = Rule("SM323", "pipe loop without a Pipe channel", needs_every_layer=True)


def pipe_loop_without_a_pipe_channel(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a pipe loop in a job without Pipe channels.

    The pipe loop passes the streams of the Pipe channels to its handler.
    """
    if isinstance(job.entry_point, PipeLoopEntry) and not any(
        job.mode_of(channel) == "Pipe" for channel in job.channels
    ):
        yield PIPE_LOOP_WITHOUT_A_PIPE_CHANNEL.at(
            ("entry_point", "pipe_loop"),
            "`entry_point.pipe_loop` needs a channel in Pipe mode",
            help="set `input_mode: Pipe`, or use `entry_point.script`",
        )


PIPE_CHANNEL_WITH_SEVERAL_READERS = Rule("SM377", "Pipe channel with several readers", "warning")


def pipe_channel_with_several_readers(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Warn about a Pipe channel where a launcher starts several processes on a host.

    A FIFO delivers each byte to one reader: processes that share one each get random parts and broken records.
    """
    shared_by = readers(job)
    if not shared_by or isinstance(job.entry_point, PipeLoopEntry):
        return  # a pipe loop is rejected with any launcher
    for channel in job.channels:
        if job.mode_of(channel) == "Pipe":
            own = ("channels", channel.name, "input_mode") if channel.input_mode else ("input_mode",)
            yield PIPE_CHANNEL_WITH_SEVERAL_READERS.at(
                own,
                f"{shared_by} on each host might share the FIFO of channel `{channel.name}`: `input_mode` is `Pipe`",
                help="use `input_mode: FastFile`, or start one process per host",
            )


def readers(job: JobSpec) -> str:
    """Return a description of the processes that read on a host, if there may be several."""
    launcher = job.distribution
    if isinstance(launcher, Torchrun | Mpi):
        count = launcher.processes_per_host
        # One process per GPU of the host; one process without a GPU.
        return "" if count == 1 else "the processes" if count == "auto" else f"{count} processes"
    return "the processes" if isinstance(launcher, SmDataParallel) else ""


CONFLICTING_EPOCHS = Rule("SM302", "conflicting epochs")


def conflicting_epochs(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject two different numbers of epochs.

    The number of epochs can be set at the entry point or as a hyperparameter.
    """
    entry = job.entry_point
    if not isinstance(entry, PipeLoopEntry) or entry.epochs is None:
        return
    for hyperparameter in job.hyperparameters:
        value = hyperparameter.value
        if hyperparameter.name == "epochs" and value != entry.epochs and str(value) != str(entry.epochs):
            yield CONFLICTING_EPOCHS.at(
                ("hyperparameters", "epochs"),
                f"`hyperparameters.epochs` is {hyperparameter.text or value}, "
                f"but `entry_point.epochs` is {entry.epochs}",
                help="remove one of them",
            )


NON_INTEGER_EPOCHS = Rule("SM303", "non-integer epochs")


def non_integer_epochs(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject a hyperparameter `epochs` that is not a valid number of epochs.

    A pipe loop without its own `epochs` uses the hyperparameter of that name.
    """
    entry = job.entry_point
    if not isinstance(entry, PipeLoopEntry) or entry.epochs is not None:
        return
    for hyperparameter in job.hyperparameters:
        if hyperparameter.name == "epochs" and not _is_count(hyperparameter.value):
            yield NON_INTEGER_EPOCHS.at(
                ("hyperparameters", "epochs"),
                "`hyperparameters.epochs` must be an integer of 1 or more: the pipe loop uses it",
                help="use an integer, or set `entry_point.epochs`",
            )


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 1 and value % 1 == 0


RULES = (
    pipe_loop_with_distribution,
    pipe_loop_without_a_pipe_channel,
    pipe_channel_with_several_readers,
    conflicting_epochs,
    non_integer_epochs,
    reserved_channel,
    channels_with_the_same_variable,
    s3_keys_on_a_file_system_channel,
    view_of_an_unknown_channel,
    view_of_a_channel_without_a_stream,
    augmented_view_of_other_data,
)
