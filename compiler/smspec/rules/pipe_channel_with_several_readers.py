"""A FIFO delivers each byte to one reader: processes that share one each get random parts and broken records."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source.listing import Listing
from smspec.spec.model import JobSpec, Mpi, PipeLoopEntry, SmDataParallel, Torchrun

RULE = Rule("SM377", "Pipe channel with several readers", "warning")


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Warn about a Pipe channel where a launcher starts several processes on a host."""
    shared_by = readers(job)
    if not shared_by or isinstance(job.entry_point, PipeLoopEntry):
        return  # a pipe loop is rejected with any launcher
    for channel in job.channels:
        if job.mode_of(channel) == "Pipe":
            own = ("channels", channel.name, "input_mode") if channel.input_mode else ("input_mode",)
            yield RULE.at(
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
