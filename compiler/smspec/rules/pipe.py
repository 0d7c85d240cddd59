"""Rules about Pipe channels and the pipe loop."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, Mpi, PipeLoopEntry, SmDataParallel, Torchrun

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
)
